import type { Alphabet } from '../../../traits.ts'
import { hexHash } from '../short-id.ts'

/** A name or id that the target takes, for each one of the client's: the same for the same one, different for different ones. */
export type Renamer = (name: string) => string

/** Names that fit stay as they are; the others are made to fit, and depend on nothing but themselves unless two would become one. */
export function createRenamer(names: Iterable<string>, alphabet: Alphabet): Renamer {
  const fits = patternOf(alphabet)
  const known = new Map<string, string>()
  const taken = new Set<string>()
  const all = new Set(names)
  for (const name of all) if (fits.test(name)) taken.add(name)
  for (const name of all) known.set(name, fits.test(name) ? name : replacement(name, alphabet, taken))
  return (name) => known.get(name) ?? (fits.test(name) ? name : replacement(name, alphabet, taken))
}

function replacement(name: string, alphabet: Alphabet, taken: Set<string>): string {
  const plain = alphabet.isExact ? hashed(name, 0, alphabet) : cleaned(name, alphabet)
  let found = plain
  for (let seed = 1; taken.has(found); seed++) {
    const hash = hashed(name, seed, alphabet)
    found = alphabet.isExact ? hash : plain.slice(0, alphabet.maxLength - hash.length) + hash
  }
  taken.add(found)
  return found
}

function cleaned(name: string, { characters, first = characters, maxLength }: Alphabet): string {
  const plain = name.replace(new RegExp(`[^${characters}]`, 'g'), '_')
  const started = new RegExp(`^[${first}]`).test(plain) ? plain : `_${plain}`
  if (started.length <= maxLength) return started
  const hash = hexHash(name, HASH_SEED)
  return `${started.slice(0, maxLength - hash.length)}${hash}`
}

/** Letters and digits that every alphabet has. */
function hashed(name: string, seed: number, { isExact, maxLength }: Alphabet): string {
  const hash = hexHash(name, HASH_SEED + seed) + hexHash(name, ~HASH_SEED - seed)
  return isExact ? hash.repeat(Math.ceil(maxLength / hash.length)).slice(0, maxLength) : hash.slice(0, 8)
}

const HASH_SEED = 0x811c9dc5

function patternOf({ characters, first = characters, maxLength, isExact }: Alphabet): RegExp {
  const rest = isExact ? `{${maxLength - 1}}` : `{0,${maxLength - 1}}`
  return new RegExp(`^[${first}][${characters}]${rest}$`)
}
