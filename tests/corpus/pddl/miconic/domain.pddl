; Elevators with every ADL feature: exists, forall, imply, when over quantified variables.
(define (domain miconic)
  (:requirements :adl)
  (:types passenger - object
          vip nonstop loner attendant guest - passenger
          floor - object)
  (:predicates (origin ?p - passenger ?f - floor) (destin ?p - passenger ?f - floor)
               (no-access ?p - passenger ?f - floor)
               (above ?f1 ?f2 - floor) (boarded ?p - passenger) (served ?p - passenger) (lift-at ?f - floor))
  (:action stop
    :parameters (?f - floor)
    :precondition (and (lift-at ?f)
      (imply (exists (?p - vip) (not (served ?p)))
             (exists (?p - vip) (or (origin ?p ?f) (destin ?p ?f))))
      (forall (?p - passenger) (imply (no-access ?p ?f) (not (boarded ?p))))
      (imply (exists (?p - loner) (or (and (origin ?p ?f) (not (served ?p))) (and (boarded ?p) (not (destin ?p ?f)))))
             (exists (?q - attendant)
               (or (and (boarded ?q) (not (destin ?q ?f))) (and (origin ?q ?f) (not (served ?q))))))
      (forall (?p - nonstop) (imply (boarded ?p) (destin ?p ?f))))
    :effect (and
      (forall (?p - passenger) (when (and (boarded ?p) (destin ?p ?f)) (and (not (boarded ?p)) (served ?p))))
      (forall (?p - passenger) (when (and (origin ?p ?f) (not (served ?p))) (boarded ?p)))))
  (:action up
    :parameters (?f1 ?f2 - floor)
    :precondition (and (lift-at ?f1) (above ?f1 ?f2))
    :effect (and (lift-at ?f2) (not (lift-at ?f1))))
  (:action down
    :parameters (?f1 ?f2 - floor)
    :precondition (and (lift-at ?f1) (above ?f2 ?f1))
    :effect (and (lift-at ?f2) (not (lift-at ?f1)))))
