; Operators that do nothing: Fast Downward drops them, disjunct by disjunct. Each action here is a case of that.
(define (domain nothing)
  (:requirements :adl)
  (:types thing)
  (:predicates (p ?x - thing) (q ?x - thing) (r ?x ?y - thing) (static ?x - thing) (always ?x - thing) (never ?x - thing))
  (:action only-when-missing  ; with (p ?x) known there is nothing to add
    :parameters (?x - thing)
    :precondition (or (p ?x) (q ?x))
    :effect (p ?x))
  (:action swap  ; equal arguments: deleted and added, so nothing
    :parameters (?x ?y - thing)
    :precondition (r ?x ?y)
    :effect (and (not (r ?x ?y)) (r ?y ?x)))
  (:action by-forall  ; the condition knows it, but under forall Fast Downward does not look
    :parameters (?x - thing)
    :precondition (forall (?y - thing) (imply (static ?y) (p ?y)))
    :effect (p ?x))
  (:action never-deletes  ; what is deleted was never true
    :parameters (?x - thing)
    :precondition (p ?x)
    :effect (not (never ?x)))
  (:action adds-what-is-always-there
    :parameters (?x - thing)
    :precondition (q ?x)
    :effect (always ?x))
  (:action guarded-delete  ; the add wins wherever the delete would act
    :parameters (?x - thing)
    :precondition (q ?x)
    :effect (and (when (p ?x) (not (q ?x))) (when (p ?x) (q ?x))))
  (:action half-guarded
    :parameters (?x ?y - thing)
    :precondition (q ?x)
    :effect (and (not (q ?x)) (when (p ?y) (q ?x))))
  (:action impossible-when
    :parameters (?x - thing)
    :precondition (not (p ?x))
    :effect (and (when (p ?x) (q ?x)) (when (never ?x) (not (q ?x)))))
  (:action drop-both
    :parameters (?x ?y - thing)
    :precondition (and (p ?x) (exists (?z - thing) (and (r ?x ?z) (not (= ?z ?y)))))
    :effect (and (not (p ?x)) (q ?y))))
