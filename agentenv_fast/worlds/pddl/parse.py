"""PDDL text → Domain and Problem, checked: every name is declared, every arity fits, every error has its place.

Read is what Fast Downward reads, and as it reads it: case does not matter, a comma is part of a name, effects are
add-after-delete, action costs are kept. Refused, with the place: numeric fluents other than total-cost, durative
actions, preferences, trajectory constraints, object fluents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn

from agentenv_fast.worlds.pddl.ast import (
    Action,
    And,
    Atom,
    Cost,
    Derived,
    Domain,
    Effect,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Or,
    Predicate,
    Problem,
    Typed,
    Where,
)
from agentenv_fast.worlds.pddl.reader import List, read, refuse, where

MAX_ARITY = 7  # of a predicate: what the compiled form's facts hold (source_check.h, kMaxArity)
MAX_PARAMETERS = 64
MAX_OBJECTS = 20_000
MAX_INIT = 200_000
MAX_DECLARED = 4_000  # types, predicates, actions
MAX_EFFECTS = 4_096  # of one action, after `and`, `when` and `forall` are taken apart

REQUIREMENTS = frozenset(
    [
        ":strips",
        ":typing",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":equality",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":adl",
        ":derived-predicates",
        ":action-costs",
        ":fluents",
        ":numeric-fluents",
        ":ucpop",
        ":domain-axioms",
    ]
)
REFUSED_SECTIONS = {
    ":durative-action": "durative actions",
    ":process": "processes",
    ":event": "events",
    ":constraints": "trajectory constraints",
    ":preference": "preferences",
    ":timed-initial-literals": "timed facts",
}
NUMERIC = frozenset(("assign", "decrease", "scale-up", "scale-down"))
COMPARISONS = frozenset(("<", ">", "<=", ">=", "+", "-", "*", "/"))


def parse_domain(text: str, source: str, *, unknown_types: Literal["refuse", "empty"] = "refuse") -> Domain:
    """The domain in a PDDL text.

    Args:
      text: the file's text.
      source: its name, for errors.
      unknown_types: of parameters and quantified variables. "empty": such a type has no objects, as Fast Downward
        has it (ALFWorld's domain relies on that). A domain may then also name objects that only problems declare;
        what is said of an object that a problem lacks is false there.
    Raises: WorldError as file:line:column: what, got, wanted.
    """
    return _DomainParser(source, unknown_types).run(read(text, source))


def parse_problem(text: str, domain: Domain, source: str) -> Problem:
    """The problem in a PDDL text, over the objects of both.

    Raises: WorldError as file:line:column: what, got, wanted.
    """
    return _ProblemParser(source, domain).run(read(text, source), text)


class _Parser:
    """What both files share: typed lists, formulas."""

    def __init__(self, source: str, domain: Domain) -> None:
        self.source = source
        self.domain = domain
        self.constants: Mapping[str, Typed] = domain.constants
        self.empty_types = False
        self.open_domain = False  # a domain may name objects that only problems declare

    # -- helpers
    def bad(self, at: Any, message: str) -> NoReturn:
        refuse(self.source, at, message)

    def many(self, at: Any, count: int, most: int, what: str) -> None:
        if count > most:
            self.bad(at, f"{count} {what}, at most {most} are read")

    def items(self, node: Any, what: str) -> List:
        if not isinstance(node, List):
            self.bad(node, f"'{node}', want a list: {what}")
        return node

    def word(self, parent: List, index: int, what: str) -> Any:
        """parent[index], a word that is not a variable."""
        if index >= len(parent):
            self.bad(parent, f"{what} is missing")
        item = parent[index]
        if isinstance(item, List) or item.startswith("?"):
            got = "a list" if isinstance(item, List) else f"'{item}'"
            self.bad(item, f"{got}, want {what}")
        return item

    def header(self, tree: List, kind: str) -> tuple[str, list[Any]]:
        """(define (KIND NAME) ...) → NAME and the rest."""
        if not tree or tree[0] != "define":
            self.bad(tree, f"want (define ({kind} ...) ...)")
        if len(tree) < 2 or not isinstance(tree[1], List) or len(tree[1]) != 2 or tree[1][0] != kind:
            got = (
                "a " + str(tree[1][0])
                if len(tree) > 1 and isinstance(tree[1], List) and tree[1]
                else "nothing"
            )
            self.bad(
                tree[1] if len(tree) > 1 else tree, f"{got}, want ({kind} NAME): is this the {kind} file?"
            )
        return str(self.word(tree[1], 1, f"the {kind}'s name")), list(tree[2:])

    def section(self, node: Any, known: Iterable[str]) -> str:
        items = self.items(node, "a section such as (:init ...)")
        if not items or isinstance(items[0], List):
            self.bad(node, "want a section such as (:init ...)")
        name = str(items[0])
        if name in REFUSED_SECTIONS:
            self.bad(node, f"{name}: {REFUSED_SECTIONS[name]} are not supported; classical planning is")
        if name not in known:
            self.bad(items[0], f"section {name} is not known here; want one of {', '.join(known)}")
        return name

    def requirements(self, node: List) -> tuple[str, ...]:
        for item in node[1:]:
            if isinstance(item, List) or item not in REQUIREMENTS:
                name = "a list" if isinstance(item, List) else str(item)
                self.bad(
                    item,
                    f"requirement {name} is not supported; want some of {', '.join(sorted(REQUIREMENTS))}",
                )
        return tuple(str(item) for item in node[1:])

    # -- typed lists
    def typed_list(self, nodes: list[Any], at: Any, what: str, *, variables: bool) -> list[Typed]:
        """`a b - t c - (either u v) d` → one Typed a name; without a type: object."""
        out: list[Typed] = []
        waiting: list[Any] = []
        i = 0
        while i < len(nodes):
            item = nodes[i]
            if isinstance(item, List):
                self.bad(item, f"a list, want {what}")
            if item != "-":
                if item.startswith("?") != variables:
                    self.bad(item, f"'{item}', want {what}{', which begins with ?' if variables else ''}")
                waiting.append(item)
                i += 1
                continue
            if i + 1 >= len(nodes):
                self.bad(item, "'-' without a type behind it")
            types = self.types_of(nodes[i + 1])
            out += [Typed(str(name), types, where(name)) for name in waiting]
            waiting.clear()
            i += 2
        out += [Typed(str(name), ("object",), where(name)) for name in waiting]
        return out

    def types_of(self, node: Any) -> tuple[str, ...]:
        if not isinstance(node, List):
            self.type_name(node)
            return (str(node),)
        if not node or node[0] != "either" or len(node) < 2:
            self.bad(node, "want a type or (either TYPE ...)")
        self.many(node, len(node), 65, "types of one either")
        for item in node[1:]:
            if isinstance(item, List):
                self.bad(item, "a list, want a type's name")
            self.type_name(item)
        return tuple(dict.fromkeys(str(item) for item in node[1:]))

    def type_name(self, node: Any) -> None:
        if node in self.domain.types or (self.empty_types and not node.startswith("?")):
            return
        comma = "; a comma is part of a name" if "," in node else ""
        self.bad(node, f"type {node} is not declared in :types{comma}")

    def variables(self, node: Any, what: str) -> tuple[Typed, ...]:
        found = self.typed_list(list(self.items(node, f"the {what}s")), node, f"a {what}", variables=True)
        self.many(node, len(found), MAX_PARAMETERS, f"{what}s")
        seen: set[str] = set()
        for one in found:
            if one.name in seen:
                self.bad(one.where, f"{what} {one.name} is declared twice")
            seen.add(one.name)
        return tuple(found)

    # -- formulas
    def formula(self, node: Any, scope: frozenset[str]) -> Formula:
        """A goal description; `()` is true."""
        items = self.items(node, "a condition")
        if not items:
            return And((), where(items))
        tag = items[0]
        if isinstance(tag, List):
            self.bad(tag, "a list, want a predicate or one of and, or, not, imply, exists, forall")
        if tag in ("and", "or"):
            parts = tuple(self.formula(part, scope) for part in items[1:])
            return And(parts, where(items)) if tag == "and" else Or(parts, where(items))
        if tag == "not":
            self.exactly(items, 1)
            return Not(self.formula(items[1], scope), where(items))
        if tag == "imply":
            self.exactly(items, 2)
            left, right = (self.formula(part, scope) for part in items[1:])
            return Or((Not(left, where(items)), right), where(items))
        if tag in ("exists", "forall"):
            self.exactly(items, 2)
            variables = self.variables(items[1], "variable")
            part = self.formula(items[2], scope | {v.name for v in variables})
            return (Exists if tag == "exists" else Forall)(variables, part, where(items))
        if tag == "=":
            self.exactly(items, 2)
            if any(isinstance(item, List) for item in items[1:]):
                self.bad(items, "a comparison of functions; numeric and object fluents are not supported")
            left, right = (self.term(item, scope) for item in items[1:])
            return Equal(left, right, where(items))
        if tag in COMPARISONS:
            self.bad(items, f"'{tag}': numeric conditions are not supported")
        if tag == "preference":
            self.bad(items, "preferences are not supported")
        return self.atom(items, scope)

    def exactly(self, items: List, count: int) -> None:
        if len(items) != count + 1:
            self.bad(items, f"'{items[0]}' with {len(items) - 1} parts, want {count}")

    def atom(self, items: List, scope: frozenset[str]) -> Atom:
        if not items or isinstance(items[0], List):
            self.bad(items, "want (PREDICATE ARGUMENT ...)")
        name = str(items[0])
        predicate = self.domain.predicates.get(name)
        if predicate is not None:
            wanted = len(predicate.parameters)
        elif name in self.domain.types:
            wanted = 1  # a type used as a predicate
        else:
            function = (
                ": it is a function, and numeric fluents are not supported"
                if name in self.domain.functions
                else ""
            )
            self.bad(items[0], f"predicate {name} is not declared in :predicates{function}")
        if len(items) - 1 != wanted:
            self.bad(items, f"{name} with {len(items) - 1} arguments, want {wanted}")
        return Atom(name, tuple(self.term(item, scope) for item in items[1:]), where(items))

    def term(self, node: Any, scope: frozenset[str]) -> str:
        if isinstance(node, List):
            self.bad(node, "a list, want an object or a variable; object fluents are not supported")
        if node.startswith("?"):
            if node not in scope:
                self.bad(node, f"variable {node} is not declared here")
        elif node not in self.constants and not self.open_domain:
            self.bad(node, f"object {node} is not declared in :objects or :constants")
        return str(node)


class _DomainParser(_Parser):
    SECTIONS = (
        ":requirements",
        ":types",
        ":constants",
        ":predicates",
        ":functions",
        ":action",
        ":derived",
    )

    def __init__(self, source: str, unknown_types: str) -> None:
        if unknown_types not in ("refuse", "empty"):
            raise ValueError(f"unknown_types={unknown_types!r}, want 'refuse' or 'empty'")
        super().__init__(source, Domain("", source, types={"object": ()}))
        self.empty_types = self.open_domain = unknown_types == "empty"

    def run(self, tree: List) -> Domain:
        domain = self.domain
        domain.name, sections = self.header(tree, "domain")
        by_name: dict[str, list[List]] = {name: [] for name in self.SECTIONS}
        for node in sections:
            name = self.section(node, self.SECTIONS)
            if by_name[name] and name not in (":action", ":derived"):
                self.bad(node, f"section {name} stands twice")
            by_name[name].append(node)
        for node in by_name[":requirements"]:
            domain.requirements = self.requirements(node)
        for node in by_name[":types"]:
            self.types(node)
        for node in by_name[":constants"]:
            self.declare_constants(node)
        for node in by_name[":predicates"]:
            self.predicates(node)
        for node in by_name[":functions"]:
            self.functions(node)
        for node in by_name[":derived"]:
            self.derived(node)
        derived = domain.derived_names
        self.many(tree, len(by_name[":action"]), MAX_DECLARED, "actions")
        names: set[str] = set()
        for node in by_name[":action"]:
            self.action(node, derived, names)
        if not domain.actions:
            self.bad(tree, "no action with an effect: nothing can happen in this domain")
        return domain

    def types(self, node: List) -> None:
        types = self.domain.types
        for item in node[1:]:
            if not isinstance(item, List) and item != "-" and not item.startswith("?"):
                types.setdefault(str(item), ())
        self.many(node, len(types), MAX_DECLARED, "types")
        declared = self.typed_list(list(node[1:]), node, "a type", variables=False)
        for one in declared:
            if one.name != "object":
                types[one.name] = tuple(dict.fromkeys((*types[one.name], *one.types)))
        self.no_cycles(declared)

    def no_cycles(self, declared: list[Typed]) -> None:
        types, places = self.domain.types, {one.name: one.where for one in declared}
        done: set[str] = set()
        for root in types:
            path: list[tuple[str, int]] = [(root, 0)]
            on_path = {root}
            while path:
                name, at = path.pop()
                if name in done or at == len(types[name]):
                    done.add(name)
                    on_path.discard(name)
                    continue
                path.append((name, at + 1))
                above = types[name][at]
                if above in on_path:
                    self.bad(
                        places.get(name, Where(1, 1)), f"type {name} is its own supertype, by way of {above}"
                    )
                if above not in done:
                    path.append((above, 0))
                    on_path.add(above)

    def declare_constants(self, node: List) -> None:
        _declare_objects(self, node, self.domain.constants)

    def predicates(self, node: List) -> None:
        self.many(node, len(node), MAX_DECLARED, "predicates")
        for item in node[1:]:
            items = self.items(item, "a predicate (NAME ?argument ...)")
            name = self.word(items, 0, "a predicate's name")
            if name in self.domain.predicates:
                self.bad(name, f"predicate {name} is declared twice")
            if name == "=":
                self.bad(name, "'=' is equality and cannot be declared")
            parameters = self.variables(_rest(items), "argument")
            self.many(items, len(parameters), MAX_ARITY, f"arguments of {name}")
            self.domain.predicates[str(name)] = Predicate(str(name), parameters, where(name))

    def functions(self, node: List) -> None:
        """Kept for action costs: (total-cost), and static functions that `increase` may name."""
        items = list(node[1:])
        while items:
            item = items.pop(0)
            if not isinstance(item, List):
                if item != "-" or not items:
                    self.bad(item, f"'{item}', want a function (NAME ?argument ...)")
                kind = items.pop(0)
                if kind != "number":
                    self.bad(kind, "object fluents are not supported; only functions to number are read")
                continue
            name = self.word(item, 0, "a function's name")
            if name in self.domain.functions:
                self.bad(name, f"function {name} is declared twice")
            self.domain.functions[str(name)] = self.variables(_rest(item), "argument")

    def derived(self, node: List) -> None:
        if len(node) != 3:
            self.bad(node, "want (:derived (PREDICATE ?argument ...) CONDITION)")
        head = self.items(node[1], "the derived predicate")
        name = self.word(head, 0, "the derived predicate's name")
        predicate = self.domain.predicates.get(name)
        if predicate is None:
            self.bad(name, f"derived predicate {name} is not declared in :predicates")
        variables = self.variables(_rest(head), "argument")
        if len(variables) != len(predicate.parameters):
            self.bad(head, f"{name} with {len(variables)} arguments, want {len(predicate.parameters)}")
        formula = self.formula(node[2], frozenset(v.name for v in variables))
        self.domain.derived.append(Derived(str(name), variables, formula, where(node)))

    # -- actions
    KEYS = (":parameters", ":precondition", ":effect")

    def action(self, node: List, derived: frozenset[str], names: set[str]) -> None:
        name = self.word(node, 1, "the action's name")
        if name in names:
            self.bad(name, f"action {name} is declared twice")
        names.add(str(name))
        parts: dict[str, Any] = {}
        for i in range(2, len(node), 2):
            key = node[i]
            if isinstance(key, List) or key not in self.KEYS:
                timed = "; durative actions are not supported" if key in (":duration", ":condition") else ""
                got = "a list" if isinstance(key, List) else f"'{key}'"
                self.bad(key, f"action {name}: {got}, want one of {', '.join(self.KEYS)}{timed}")
            if key in parts:
                self.bad(key, f"action {name}: {key} stands twice")
            if i + 1 == len(node):
                self.bad(key, f"action {name}: nothing behind {key}")
            parts[str(key)] = node[i + 1]
        parameters = self.variables(parts[":parameters"], "parameter") if ":parameters" in parts else ()
        scope = frozenset(p.name for p in parameters)
        precondition = (
            self.formula(parts[":precondition"], scope) if ":precondition" in parts else And((), where(node))
        )
        effects = _Effects(self, str(name), derived)
        if ":effect" in parts and parts[":effect"] != []:
            effects.read(parts[":effect"], scope, (), ())
        if not effects.found:
            return  # nothing can ever come of it
        self.domain.actions[str(name)] = Action(
            str(name), parameters, precondition, tuple(effects.found), effects.cost, where(node)
        )


class _Effects:
    """Takes one action's effect apart: forall and when are pushed down to single literals."""

    def __init__(self, parser: _DomainParser, action: str, derived: frozenset[str]) -> None:
        self.parser = parser
        self.action = action
        self.derived = derived
        self.found: list[Effect] = []
        self.cost: Cost | None = None

    def read(
        self, node: Any, scope: frozenset[str], variables: tuple[Typed, ...], conditions: tuple[Formula, ...]
    ) -> None:
        parser = self.parser
        items = parser.items(node, "an effect")
        if not items:
            return
        tag = items[0]
        if isinstance(tag, List):
            parser.bad(tag, "a list, want a predicate or one of and, not, when, forall, increase")
        if tag == "and":
            for part in items[1:]:
                self.read(part, scope, variables, conditions)
        elif tag == "forall":
            parser.exactly(items, 2)
            more = parser.variables(items[1], "variable")
            shadowed = next((v for v in more if v.name in scope), None)
            if shadowed is not None:
                parser.bad(shadowed.where, f"variable {shadowed.name} hides another of that name; rename it")
            self.read(items[2], scope | {v.name for v in more}, variables + more, conditions)
        elif tag == "when":
            parser.exactly(items, 2)
            self.read(items[2], scope, variables, (*conditions, parser.formula(items[1], scope)))
        elif tag == "increase":
            self.increase(items, scope, conditions)
        elif tag in NUMERIC:
            parser.bad(items, f"'{tag}': numeric fluents other than total-cost are not supported")
        else:
            self.literal(items, scope, variables, conditions)

    def literal(
        self,
        items: List,
        scope: frozenset[str],
        variables: tuple[Typed, ...],
        conditions: tuple[Formula, ...],
    ) -> None:
        parser = self.parser
        negated = items[0] == "not"
        if negated:
            parser.exactly(items, 1)
            items = parser.items(items[1], "the fact that becomes false")
        atom = parser.atom(items, scope)
        if atom.predicate not in parser.domain.predicates:
            parser.bad(items, f"action {self.action}: a type cannot change")
        if atom.predicate in self.derived:
            parser.bad(items, f"action {self.action}: {atom.predicate} is derived and cannot be an effect")
        condition = conditions[0] if len(conditions) == 1 else And(conditions, where(items))
        self.found.append(Effect(variables, condition, atom, negated))
        parser.many(items, len(self.found), MAX_EFFECTS, f"effects of action {self.action}")

    def increase(self, items: List, scope: frozenset[str], conditions: tuple[Formula, ...]) -> None:
        parser = self.parser
        parser.exactly(items, 2)
        target = items[1] if isinstance(items[1], List) else [items[1]]
        if list(target) != ["total-cost"]:
            parser.bad(items, "numeric fluents other than total-cost are not supported")
        if conditions:
            parser.bad(items, "a cost inside `when` is not supported")
        if self.cost is not None:
            parser.bad(items, f"action {self.action}: two costs")
        amount = items[2]
        if not isinstance(amount, List) and (number := _number(amount)) is not None:
            if number < 0:
                parser.bad(amount, f"a cost of {amount}: negative costs are not supported")
            self.cost = Cost(number)
            return
        call = amount if isinstance(amount, List) else [amount]
        if not call or isinstance(call[0], List) or call[0] not in parser.domain.functions:
            parser.bad(amount, "want a number or a declared function of the parameters")
        function, wanted = str(call[0]), len(parser.domain.functions[call[0]])
        if len(call) - 1 != wanted:
            parser.bad(amount, f"{function} with {len(call) - 1} arguments, want {wanted}")
        self.cost = Cost(None, function, tuple(parser.term(item, scope) for item in call[1:]))


class _ProblemParser(_Parser):
    SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")

    def run(self, tree: List, text: str) -> Problem:
        name, sections = self.header(tree, "problem")
        found: dict[str, List] = {}
        for node in sections:
            section = self.section(node, self.SECTIONS)
            if section in found:
                self.bad(node, f"section {section} stands twice")
            found[section] = node
        for wanted in (":domain", ":init", ":goal"):
            if wanted not in found:
                self.bad(tree, f"section {wanted} is missing")
        domain = str(self.word(found[":domain"], 1, "the domain's name"))
        if domain != self.domain.name:
            self.bad(
                found[":domain"],
                f"a problem of domain {domain}, but {self.domain.source} is {self.domain.name}",
            )
        if ":requirements" in found:
            self.requirements(found[":requirements"])
        objects = dict(self.domain.constants)
        if ":objects" in found:
            _declare_objects(self, found[":objects"], objects)
        self.constants = objects
        problem = Problem(name, self.source, domain, objects, [], And((), where(tree)), "")
        self.init(found[":init"], problem)
        self.exactly(found[":goal"], 1)
        problem.goal = self.formula(found[":goal"][1], frozenset())
        problem.goal_text = _printed(found[":goal"][1])
        if ":metric" in found:
            problem.minimize_cost = self.metric(found[":metric"])
        return problem

    def init(self, node: List, problem: Problem) -> None:
        self.many(node, len(node), MAX_INIT, "facts")
        true: dict[tuple[str, ...], Atom] = {}
        false: set[tuple[str, ...]] = set()
        derived = self.domain.derived_names
        for item in node[1:]:
            items = self.items(item, "a fact")
            if (
                items
                and items[0] == "="
                and len(items) == 3
                and (isinstance(items[1], List) or _number(items[2]) is not None)
            ):
                self.assignment(items, problem)
                continue
            negated = bool(items) and items[0] == "not"
            if items and items[0] == "at" and len(items) == 3 and isinstance(items[2], List):
                self.bad(items, "timed facts are not supported")
            if negated:
                self.exactly(items, 1)
                items = self.items(items[1], "a fact")
            atom = self.atom(items, frozenset())
            if atom.predicate in derived:
                self.bad(items, f"{atom.predicate} is derived and cannot stand in :init")
            if atom.predicate not in self.domain.predicates:
                self.bad(items, f"{atom.predicate} is a type; give the object that type in :objects")
            key = (atom.predicate, *atom.args)
            if negated:
                false.add(key)
            else:
                true.setdefault(key, atom)
            if key in true and key in false:
                self.bad(items, f"({' '.join(key)}) is both true and false in :init")
        problem.init = list(true.values())

    def assignment(self, items: List, problem: Problem) -> None:
        call = items[1] if isinstance(items[1], List) else [items[1]]
        name = call[0] if call else None
        if isinstance(name, List) or name not in self.domain.functions:
            self.bad(items, "a value of a function that is not declared in :functions")
        wanted = len(self.domain.functions[name])
        if len(call) - 1 != wanted:
            self.bad(items, f"{name} with {len(call) - 1} arguments, want {wanted}")
        value = None if isinstance(items[2], List) else _number(items[2])
        if value is None:
            self.bad(items, "want (= (FUNCTION OBJECT ...) NUMBER)")
        key = (str(name), *(self.term(item, frozenset()) for item in call[1:]))
        if problem.costs.setdefault(key, value) != value:
            self.bad(items, f"({' '.join(key)}) has two values")

    def metric(self, node: List) -> bool:
        target = node[2] if len(node) == 3 else None
        words = list(target) if isinstance(target, List) else [target]
        if len(node) != 3 or node[1] != "minimize" or words != ["total-cost"]:
            self.bad(node, "only (:metric minimize (total-cost)) is supported")
        return True


def _declare_objects(parser: _Parser, node: List, into: dict[str, Typed]) -> None:
    for one in parser.typed_list(list(node[1:]), node, "an object", variables=False):
        if one.name in into:
            types = " and ".join(sorted({*into[one.name].types, *one.types}))
            parser.bad(one.where, f"object {one.name} is declared twice ({types}); want one type each")
        into[one.name] = one
    parser.many(node, len(into), MAX_OBJECTS, "objects")


def _rest(items: List) -> List:
    return List(items[1:], items.line, items.column)


def _number(word: Any) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e300 else None


def _printed(node: Any) -> str:
    if isinstance(node, List):
        return "(" + " ".join(_printed(item) for item in node) + ")"
    return str(node)
