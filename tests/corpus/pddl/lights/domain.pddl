; Lights out: every effect is conditional, and each press adds and deletes the same facts.
(define (domain lights)
  (:requirements :adl)
  (:types lamp)
  (:predicates (lit ?l - lamp) (beside ?a ?b - lamp))
  (:action press
    :parameters (?l - lamp)
    :effect (and
      (when (lit ?l) (not (lit ?l)))
      (when (not (lit ?l)) (lit ?l))
      (forall (?m - lamp)
        (and (when (and (beside ?l ?m) (lit ?m)) (not (lit ?m)))
             (when (and (beside ?l ?m) (not (lit ?m))) (lit ?m)))))))
