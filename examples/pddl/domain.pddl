; A cafe robot: it carries one cup per arm, and spills what it carries when it hurries through a crowd.
(define (domain cafe-robot)
  (:requirements :adl)
  (:types room cup arm)
  (:predicates (robot-in ?r - room) (door ?from ?to - room) (crowded ?r - room)
               (at ?c - cup ?r - room) (holds ?a - arm ?c - cup) (empty ?a - arm) (full ?c - cup) (tap ?r - room))
  (:action walk
    :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (or (door ?from ?to) (door ?to ?from)))
    :effect (and (robot-in ?to) (not (robot-in ?from))
      (forall (?a - arm ?c - cup) (when (and (crowded ?to) (holds ?a ?c)) (not (full ?c))))))
  (:action take
    :parameters (?c - cup ?a - arm ?r - room)
    :precondition (and (robot-in ?r) (at ?c ?r) (empty ?a))
    :effect (and (holds ?a ?c) (not (at ?c ?r)) (not (empty ?a))))
  (:action put
    :parameters (?c - cup ?a - arm ?r - room)
    :precondition (and (robot-in ?r) (holds ?a ?c))
    :effect (and (at ?c ?r) (empty ?a) (not (holds ?a ?c))))
  (:action fill
    :parameters (?c - cup ?r - room)
    :precondition (and (robot-in ?r) (tap ?r) (not (full ?c)) (exists (?a - arm) (holds ?a ?c)))
    :effect (full ?c)))
