; Places in lines: a push needs three in a row.
(define (domain sokoban)
  (:requirements :strips :typing :negative-preconditions)
  (:types stone place direction)
  (:constants up down left right - direction)
  (:predicates (next ?a ?b - place ?d - direction) (player-at ?p - place) (stone-at ?s - stone ?p - place)
               (taken ?p - place) (goal ?p - place) (done ?s - stone))
  (:action move
    :parameters (?from ?to - place ?d - direction)
    :precondition (and (player-at ?from) (next ?from ?to ?d) (not (taken ?to)))
    :effect (and (player-at ?to) (not (player-at ?from))))
  (:action push
    :parameters (?s - stone ?from ?over ?to - place ?d - direction)
    :precondition (and (player-at ?from) (next ?from ?over ?d) (next ?over ?to ?d) (stone-at ?s ?over)
                       (not (taken ?to)))
    :effect (and (player-at ?over) (not (player-at ?from)) (stone-at ?s ?to) (not (stone-at ?s ?over))
                 (taken ?to) (not (taken ?over)) (done ?s) (not (done ?s))
                 )))
