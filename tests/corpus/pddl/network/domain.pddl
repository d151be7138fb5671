; Recursive derived predicates, and their negation one layer above: power flows where switches are closed.
(define (domain network)
  (:requirements :adl :derived-predicates)
  (:types node switch)
  (:predicates (wire ?a ?b - node) (line ?a ?b - node ?s - switch) (closed ?s - switch) (source ?n - node)
               (burnt ?n - node) (linked ?a ?b - node) (fed ?n - node) (dark ?n - node) (safe))
  (:derived (linked ?a ?b - node)
    (or (wire ?a ?b) (wire ?b ?a)
        (exists (?s - switch) (and (closed ?s) (or (line ?a ?b ?s) (line ?b ?a ?s))))))
  (:derived (fed ?n - node) (and (source ?n) (not (burnt ?n))))
  (:derived (fed ?n - node) (and (not (burnt ?n)) (exists (?m - node) (and (fed ?m) (linked ?m ?n)))))
  (:derived (dark ?n - node) (and (not (fed ?n)) (not (burnt ?n))))
  (:derived (safe) (forall (?n - node) (imply (burnt ?n) (not (exists (?m - node) (and (fed ?m) (linked ?m ?n)))))))
  (:action close
    :parameters (?s - switch)
    :precondition (not (closed ?s))
    :effect (closed ?s))
  (:action open
    :parameters (?s - switch)
    :precondition (closed ?s)
    :effect (not (closed ?s)))
  (:action repair
    :parameters (?n - node)
    :precondition (and (burnt ?n) (safe))
    :effect (not (burnt ?n)))
  (:action surge
    :parameters (?n - node)
    :precondition (and (fed ?n) (exists (?m - node) (dark ?m)))
    :effect (when (not (source ?n)) (burnt ?n))))
