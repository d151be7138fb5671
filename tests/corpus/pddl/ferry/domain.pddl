; Equality and negative preconditions instead of the static not-eq of the classic.
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types car port)
  (:predicates (at-ferry ?p - port) (at ?c - car ?p - port) (on ?c - car) (loaded))
  (:action sail
    :parameters (?from ?to - port)
    :precondition (and (not (= ?from ?to)) (at-ferry ?from))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board
    :parameters (?car - car ?port - port)
    :precondition (and (at ?car ?port) (at-ferry ?port) (not (loaded)))
    :effect (and (on ?car) (loaded) (not (at ?car ?port))))
  (:action debark
    :parameters (?car - car ?port - port)
    :precondition (and (on ?car) (at-ferry ?port))
    :effect (and (at ?car ?port) (not (loaded)) (not (on ?car)))))
