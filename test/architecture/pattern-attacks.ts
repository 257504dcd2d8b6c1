/*
 * Inputs that take quadratic time if a pattern backtracks or restarts at every position. They are derived from the pattern: for each unbounded
 * quantifier, a prefix that leads to it, text that it repeats, and an ending that doesn't match.
 */

/** A pattern as a tree, reduced to what matters for the inputs. */
type Node =
  | { kind: 'text'; samples: readonly string[] }
  | { kind: 'sequence'; parts: readonly Node[] }
  | { kind: 'choice'; options: readonly Node[] }
  | { kind: 'repeat'; of: Node; min: number; isUnbounded: boolean }

/** One character from each class that patterns distinguish. */
const CHARACTERS = [...'aAeE05_- \t\n/\\:.,;"\'`{}[]()<>=@%+?!*&|~$#^', '\r', '\u0000', 'é', 'ÿ', '模', '😀']

/** The maximum number of samples per class. More would take longer without revealing anything new. */
const MAX_SAMPLES = 4

/** Returns an input of about this many characters. */
export type Attack = (length: number) => string

/** Returns the inputs for a pattern, or none if all its quantifiers are bounded. */
export function attacksOn({ source, flags }: RegExp): Attack[] {
  const tree = parse(source, flags.replace(/[gy]/g, ''))
  const attacks = new Map<string, Attack>()
  for (const { before, repeated } of findRepeats(tree, '')) {
    for (const pump of repeated) {
      for (const [start, value] of [
        [before, pump],
        ['', before + pump],
        ['', pump + before],
        [before, pump + before],
      ] as const) {
        if (value === '') continue
        for (const end of ENDS)
          attacks.set(
            JSON.stringify([start, value, end]),
            (length) => start + value.repeat(Math.ceil(length / value.length)) + end,
          )
      }
    }
  }
  return [...attacks.values()]
}

const ENDS = ['\u0000', '\n\u0001', '!']

/** Finds unbounded quantifiers, with a text that leads to each and texts that it repeats. */
function findRepeats(node: Node, before: string): { before: string; repeated: string[] }[] {
  switch (node.kind) {
    case 'text':
      return []
    case 'choice':
      return node.options.flatMap((option) => findRepeats(option, before))
    case 'sequence': {
      let lead = before
      return node.parts.flatMap((part) => {
        const found = findRepeats(part, lead)
        lead += getSample(part)
        return found
      })
    }
    case 'repeat': {
      const inner = findRepeats(node.of, before)
      return node.isUnbounded ? [{ before, repeated: getSamples(node.of) }, ...inner] : inner
    }
  }
}

const getSample = (node: Node): string => getSamples(node)[0] ?? ''

function getSamples(node: Node): string[] {
  switch (node.kind) {
    case 'text':
      return [...node.samples]
    case 'choice':
      return node.options.flatMap(getSamples)
    case 'sequence': {
      const all = node.parts.map(getSamples)
      const longest = Math.min(MAX_SAMPLES, Math.max(0, ...all.map(({ length }) => length)))
      return Array.from({ length: longest }, (_, index) => all.map((some) => some[index % some.length] ?? '').join(''))
    }
    case 'repeat':
      return getSamples(node.of).map((sample) => sample.repeat(Math.max(1, node.min)))
  }
}

/** Parses a pattern that is known to be valid. */
function parse(source: string, flags: string): Node {
  let index = 0
  return choice()

  function choice(): Node {
    const options = [sequence()]
    while (source[index] === '|') {
      index++
      options.push(sequence())
    }
    return options.length === 1 ? (options[0] as Node) : { kind: 'choice', options }
  }

  function sequence(): Node {
    const parts: Node[] = []
    while (index < source.length && source[index] !== '|' && source[index] !== ')') parts.push(quantified(atom()))
    return { kind: 'sequence', parts }
  }

  function quantified(of: Node): Node {
    const [full, sign, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(index)) ?? []
    if (full === undefined) return of
    index += full.length
    if (sign) return { kind: 'repeat', of, min: sign === '+' ? 1 : 0, isUnbounded: sign !== '?' }
    return { kind: 'repeat', of, min: Number(least), isUnbounded: comma === ',' && most === '' }
  }

  function atom(): Node {
    const rest = source.slice(index)
    const [group] = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(rest) ?? []
    if (group) {
      index += group.length
      const inner = choice()
      index++
      return group.endsWith('=') || group.endsWith('!') ? NOTHING : inner
    }
    const [set] = /^\[(?:[^\]\\]|\\.)*\]/.exec(rest) ?? []
    const [escaped] = /^\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|p\{\w+\}|c[A-Z]|k<\w+>|.)/iu.exec(rest) ?? []
    const one = set ?? escaped ?? String.fromCodePoint(rest.codePointAt(0) ?? 0)
    index += one.length
    if (/^(?:\^|\$|\\[bB]|\\[1-9k].*)$/.test(one)) return NOTHING
    return { kind: 'text', samples: matching(one, flags) }
  }
}

const NOTHING: Node = { kind: 'text', samples: [''] }

function matching(value: string, flags: string): string[] {
  const pattern = new RegExp(`^(?:${value})$`, flags)
  const found = CHARACTERS.filter((character) => pattern.test(character))
  if (found.length > 0) return spread(found)
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (pattern.test(character)) return [character]
  }
  throw new Error(`No character matches ${value}.`)
}

/** Returns the first item, the last item, and some in between. */
const spread = (all: readonly string[]): string[] =>
  all.length <= MAX_SAMPLES
    ? [...all]
    : Array.from(
        { length: MAX_SAMPLES },
        (_, index) => all[Math.floor((index * (all.length - 1)) / (MAX_SAMPLES - 1))] ?? '',
      )
