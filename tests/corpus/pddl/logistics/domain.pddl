; A hierarchy of types; predicates over supertypes.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types package vehicle - physobj
          truck airplane - vehicle
          airport location - place
          city place physobj - object)
  (:predicates (in-city ?loc - place ?city - city) (at ?obj - physobj ?loc - place) (in ?pkg - package ?veh - vehicle))
  (:action load
    :parameters (?pkg - package ?veh - vehicle ?loc - place)
    :precondition (and (at ?veh ?loc) (at ?pkg ?loc))
    :effect (and (not (at ?pkg ?loc)) (in ?pkg ?veh)))
  (:action unload
    :parameters (?pkg - package ?veh - vehicle ?loc - place)
    :precondition (and (at ?veh ?loc) (in ?pkg ?veh))
    :effect (and (at ?pkg ?loc) (not (in ?pkg ?veh))))
  (:action drive
    :parameters (?truck - truck ?from ?to - place ?city - city)
    :precondition (and (at ?truck ?from) (in-city ?from ?city) (in-city ?to ?city))
    :effect (and (not (at ?truck ?from)) (at ?truck ?to)))
  (:action fly
    :parameters (?plane - airplane ?from ?to - airport)
    :precondition (at ?plane ?from)
    :effect (and (not (at ?plane ?from)) (at ?plane ?to))))
