(define (problem one-parcel-each-way)
  (:domain logistics)
  (:objects plane - airplane t1 t2 - truck parcel letter - package
            home1 shop1 - location home2 - location air1 air2 - airport c1 c2 - city)
  (:init (in-city home1 c1) (in-city shop1 c1) (in-city air1 c1) (in-city home2 c2) (in-city air2 c2)
         (at plane air2) (at t1 home1) (at t2 air2) (at parcel shop1) (at letter home2))
  (:goal (and (at parcel home2) (at letter home1))))
