; Nested quantifiers, imply, types used as predicates, and a goal with every connective.
(define (domain cafe)
  (:requirements :adl)
  (:types guest table dish - object hot-dish cold-dish - dish)
  (:predicates (sits ?g - guest ?t - table) (free ?t - table) (wants ?g - guest ?d - dish) (ready ?d - dish)
               (served ?g - guest ?d - dish) (dirty ?t - table) (paid ?g - guest) (friends ?a ?b - guest))
  (:action seat
    :parameters (?g - guest ?t - table)
    :precondition (and (not (dirty ?t)) (not (exists (?u - table) (sits ?g ?u))) (not (paid ?g))
      (or (free ?t) (forall (?h - guest) (imply (sits ?h ?t) (or (friends ?g ?h) (friends ?h ?g))))))
    :effect (and (sits ?g ?t) (not (free ?t))))
  (:action cook
    :parameters (?d - dish)
    :precondition (and (not (ready ?d)) (exists (?g - guest ?t - table) (and (wants ?g ?d) (sits ?g ?t))))
    :effect (ready ?d))
  (:action serve
    :parameters (?d - dish ?t - table)
    :precondition (and (ready ?d) (exists (?g - guest) (and (sits ?g ?t) (wants ?g ?d) (not (served ?g ?d)))))
    :effect (and (not (ready ?d))
      (forall (?g - guest) (when (and (sits ?g ?t) (wants ?g ?d)) (and (served ?g ?d) (dirty ?t))))))
  (:action leave
    :parameters (?g - guest ?t - table)
    :precondition (and (sits ?g ?t) (forall (?d - dish) (imply (wants ?g ?d) (served ?g ?d))))
    :effect (and (paid ?g) (not (sits ?g ?t))
      (when (forall (?h - guest) (or (= ?h ?g) (not (sits ?h ?t)))) (free ?t))))
  (:action wipe
    :parameters (?t - table)
    :precondition (and (dirty ?t) (or (free ?t) (exists (?d - hot-dish) (ready ?d))))
    :effect (not (dirty ?t))))
