# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic of decks: expressions of the MAD family, and reverse Polish ones of elegant."""
import math
import re

TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)"
                   r"|(?P<name>[A-Za-z_][\w.$:#]*)|(?P<sign>\*\*|->|[-+*/^()\[\],]))")

CONSTANTS = {
    "PI": math.pi, "TWOPI": 2.0 * math.pi, "DEGRAD": 180.0 / math.pi, "RADDEG": math.pi / 180.0,
    "E": math.e, "EMASS": 0.51099895e-3, "PMASS": 0.93827208816, "CLIGHT": 299792458.0,
}
# Bmad: CODATA 2018, energies in eV.
BMAD_CONSTANTS = {
    **CONSTANTS, "C_LIGHT": 299792458.0, "M_ELECTRON": 510998.95, "M_PROTON": 938272088.16,
    "FOURPI": 4.0 * math.pi, "E_CHARGE": 1.602176634e-19, "RAD_DEG": 180.0 / math.pi,
    "DEGREES": math.pi / 180.0, "DEGRAD": 180.0 / math.pi, "RADDEG": math.pi / 180.0,
}

FUNCTIONS = {
    "SQRT": math.sqrt, "EXP": math.exp, "LOG": math.log, "SIN": math.sin, "COS": math.cos,
    "TAN": math.tan, "ASIN": math.asin, "ACOS": math.acos, "ATAN": math.atan, "ABS": abs,
    "ATAN2": math.atan2, "MAX": max, "MIN": min, "SINH": math.sinh, "COSH": math.cosh,
    "TANH": math.tanh, "SINC": lambda x: math.sin(x) / x if x else 1.0,
}


class BadExpression(Exception):
    """An expression that has no value; the message says why."""


def tokens(text):
    """Split an expression into (kind, text) pairs. Raises BadExpression."""
    out, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = TOKEN.match(text, place)
        if not match:
            raise BadExpression(f"'{text.strip()}' is no expression")
        out.append((match.lastgroup, match.group(match.lastgroup)))
        place = match.end()
    return out


class _Parser:
    """Recursive descent over the tokens of an expression; ^ binds most, to the left as in MAD."""

    def __init__(self, text, lookup):
        self.text, self.lookup = text.strip(), lookup
        self.tokens, self.place = tokens(text), 0

    def peek(self):
        return self.tokens[self.place][1] if self.place < len(self.tokens) else None

    def next(self):
        if self.place >= len(self.tokens):
            raise BadExpression(f"'{self.text}' ends too early")
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, sign):
        if self.next()[1] != sign:
            raise BadExpression(f"'{self.text}': expected '{sign}'")

    def whole(self):
        value = self.sum()
        if self.peek() is not None:
            raise BadExpression(f"'{self.text}': '{self.peek()}' is not expected there")
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.next()[1] == "+" else value - self.product()
        return value

    def product(self):
        value = self.signed()
        while self.peek() in ("*", "/"):
            value = value * self.signed() if self.next()[1] == "*" else value / self.signed()
        return value

    def signed(self):
        if self.peek() in ("+", "-"):
            return self.signed() if self.next()[1] == "+" else -self.signed()
        return self.power()

    def power(self):
        value = self.atom()
        while self.peek() in ("^", "**"):
            self.next()
            negative = self.peek() == "-"
            if self.peek() in ("+", "-"):
                self.next()
            exponent = self.atom()
            value = value ** (-exponent if negative else exponent)
            if isinstance(value, complex):
                raise BadExpression(f"'{self.text}' is not real")
        return value

    def atom(self):
        kind, word = self.next()
        if kind == "number":
            return float(re.sub("[dD]", "e", word))
        if word == "(":
            value = self.sum()
            self.expect(")")
            return value
        if kind != "name":
            raise BadExpression(f"'{self.text}': '{word}' is not expected there")
        name = word.upper()
        if self.peek() == "(":
            return self.call(name)
        if self.peek() == "[":
            self.next()
            attribute = self.next()[1].upper()
            self.expect("]")
            return self.lookup(name, attribute)
        if self.peek() == "->":
            self.next()
            return self.lookup(name, self.next()[1].upper())
        return self.lookup(name, None)

    def call(self, name):
        if name not in FUNCTIONS:
            raise BadExpression(f"'{self.text}': the function {name} is not known")
        self.expect("(")
        values = [self.sum()]
        while self.peek() == ",":
            self.next()
            values.append(self.sum())
        self.expect(")")
        return FUNCTIONS[name](*values)


def evaluate(text, lookup):
    """Value of an expression of MAD8, XSIF or Bmad.

    lookup(name, attribute or None) gives the value of a parameter or of an element's attribute, in
    upper case. Raises BadExpression, also for 1/0 and sqrt(-1), and what lookup raises.
    """
    try:
        value = float(_Parser(text, lookup).whole())
    except (ArithmeticError, ValueError, TypeError) as problem:
        raise BadExpression(f"'{text.strip()}': {problem}") from None
    except RecursionError:
        raise BadExpression(f"'{text.strip()[:40]}...' has too many brackets") from None
    if not math.isfinite(value):
        raise BadExpression(f"'{text.strip()}' is not finite")
    return value


def _dtor(x):
    return x * math.pi / 180.0


# name: (number of arguments, function of them in the order in which they were written)
RPN = {
    "+": (2, lambda a, b: a + b), "-": (2, lambda a, b: a - b), "*": (2, lambda a, b: a * b),
    "/": (2, lambda a, b: a / b), "pow": (2, lambda a, b: a ** b), "sqr": (1, lambda a: a * a),
    "sqrt": (1, math.sqrt), "sin": (1, math.sin), "cos": (1, math.cos), "tan": (1, math.tan),
    "asin": (1, math.asin), "acos": (1, math.acos), "atan": (1, math.atan),
    "exp": (1, math.exp), "ln": (1, math.log),
    "log10": (1, math.log10), "abs": (1, abs), "chs": (1, lambda a: -a),
    "rec": (1, lambda a: 1 / a),
    "mult": (2, lambda a, b: a * b), "add": (2, lambda a, b: a + b), "dtor": (1, _dtor),
    "rtod": (1, math.degrees), "dsin": (1, lambda a: math.sin(_dtor(a))),
    "dcos": (1, lambda a: math.cos(_dtor(a))), "dtan": (1, lambda a: math.tan(_dtor(a))),
    "dasin": (1, lambda a: math.degrees(math.asin(a))), "int": (1, math.trunc),
    "dacos": (1, lambda a: math.degrees(math.acos(a))), "sinh": (1, math.sinh),
    "datan": (1, lambda a: math.degrees(math.atan(a))), "cosh": (1, math.cosh),
    "tanh": (1, math.tanh), "hypot": (2, math.hypot), "max2": (2, max), "min2": (2, min),
}
RPN_CONSTANTS = {"pi": math.pi, "c_mks": 299792458.0, "c_cgs": 2.99792458e10}


def _number(word):
    """The value of a word that is a number, else None."""
    try:
        return float(re.sub("[dD]", "e", word)) if word[0] in "+-.0123456789" else None
    except ValueError:
        return None


def evaluate_rpn(text, memory):
    """Value of an expression in reverse Polish notation, as elegant has it; None: it left none.

    memory: dict of what `sto` has stored, which it changes. Raises BadExpression.
    """
    stack, words = [], text.split()
    while words:
        word = words.pop(0)
        number = _number(word)
        try:
            stack.append(_rpn_word(word, words, stack, memory) if number is None else number)
        except (ArithmeticError, ValueError, TypeError) as problem:
            raise BadExpression(f"'{text}': {word}: {problem}") from None
        except IndexError:
            raise BadExpression(f"'{text}': {word} finds too few numbers") from None
        if stack[-1] is None:
            stack.pop()
    if stack and not math.isfinite(stack[-1]):
        raise BadExpression(f"'{text}' is not finite")
    return stack[-1] if stack else None


def _rpn_word(word, words, stack, memory):
    """Value that a word leaves on the stack, or None."""
    if word == "sto":
        memory[words.pop(0)] = stack[-1]
        return None
    if word == "rcl":
        word = words.pop(0)
    if word == "swap":
        stack[-1], stack[-2] = stack[-2], stack[-1]
        return None
    if word in ("=", "dup"):
        return stack[-1]
    if word == "pop":
        stack.pop()
        return None
    if word == "clr":
        stack.clear()
        return None
    if word in RPN:
        count, function = RPN[word]
        if len(stack) < count:
            raise IndexError
        arguments = stack[-count:]
        del stack[-count:]
        value = function(*arguments)
        if isinstance(value, complex):
            raise ValueError("not real")
        return float(value)
    if word in memory:
        return memory[word]
    if word in RPN_CONSTANTS:
        return RPN_CONSTANTS[word]
    raise ValueError("is not known (neither stored by % ... sto before, nor an operation)")
