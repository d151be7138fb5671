; A shop floor: conditional deletes against adds, constants, disjunctive preconditions.
(define (domain paint)
  (:requirements :adl)
  (:types part colour machine)
  (:constants red blue - colour polisher lathe roller - machine)
  (:predicates (painted ?x - part ?c - colour) (smooth ?x - part) (round ?x - part) (hot ?x - part) (busy ?m - machine)
               (has-paint ?m - machine ?c - colour))
  (:action do-polish
    :parameters (?x - part)
    :precondition (and (not (busy polisher)) (not (hot ?x)))
    :effect (and (busy polisher) (smooth ?x) (when (round ?x) (hot ?x))))
  (:action do-roll
    :parameters (?x - part)
    :precondition (not (busy roller))
    :effect (and (busy roller) (hot ?x) (round ?x) (not (smooth ?x))
      (forall (?c - colour) (not (painted ?x ?c)))))
  (:action do-lathe
    :parameters (?x - part)
    :precondition (and (not (busy lathe)) (or (hot ?x) (smooth ?x)))
    :effect (and (busy lathe) (round ?x) (not (smooth ?x))
      (forall (?c - colour) (when (painted ?x ?c) (not (painted ?x ?c))))))
  (:action paint
    :parameters (?x - part ?m - machine ?c - colour)
    :precondition (and (has-paint ?m ?c) (not (busy ?m)) (or (smooth ?x) (painted ?x red) (painted ?x blue)))
    :effect (and (painted ?x ?c) (busy ?m)
      (forall (?o - colour) (when (and (painted ?x ?o) (not (= ?o ?c))) (not (painted ?x ?o))))))
  (:action wait
    :parameters ()
    :precondition (exists (?m - machine) (busy ?m))
    :effect (and (forall (?m - machine) (not (busy ?m))) (forall (?x - part) (when (hot ?x) (not (hot ?x)))))))
