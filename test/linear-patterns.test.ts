import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { decodeEscapes } from '../src/features/guards/kinds/decode-escapes.ts'
import { dropMarkup } from '../src/features/guards/kinds/drop-markup.ts'
import { redactCredentialShapes } from '../src/lib/credential-shapes.ts'
import { readContextWindow } from '../src/protocols/formats/errors/context-window.ts'
import { parseWait } from '../src/protocols/formats/errors/retry-after.ts'
import { attacksOn } from './architecture/pattern-attacks.ts'
import { cpuMs } from './support/cpu-time.ts'
import { assert, suite } from './support/suite.ts'

const root = new URL('..', import.meta.url).pathname

const patterns = suite('regular expressions in the source')

interface Found {
  where: string
  pattern: RegExp
}

/** Reads the regular expression literals in all files, and lists the files that build patterns at run time. */
function read(): { literals: Found[]; builders: string[] } {
  const literals: Found[] = []
  const builders = new Set<string>()
  for (const folder of ['src', 'adapters']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue
      const path = `${folder}/${name}`
      const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true)
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node))
          literals.push({ where: `${path}: ${node.text}`, pattern: toRegExp(node.text) })
        if (ts.isIdentifier(node) && node.text === 'RegExp' && !ts.findAncestor(node, ts.isTypeNode)) builders.add(path)
        ts.forEachChild(node, visit)
      }
      visit(file)
    }
  }
  return { literals, builders: [...builders].sort() }
}

function toRegExp(text: string): RegExp {
  const end = text.lastIndexOf('/')
  return new RegExp(text.slice(1, end), text.slice(end + 1))
}

/** The input lengths, in characters. They increase, so a slow pattern is found before it takes seconds. */
const LENGTHS = [500, 1_000, 2_000, 8_000, 32_000]

/** More than any linear pattern needs for the longest input on any machine, in ms. A quadratic pattern takes hundreds. */
const MIN_MS = 15

/** The maximum growth if the input is four times as long: linear time grows by 4, and quadratic time by 16. */
const MAX_RATIO = 9

/** Returns how much the time grows once it is significant, or `undefined` if it never is. */
function growth(action: (text: string) => void, getInput: (length: number) => string): number | undefined {
  for (const length of LENGTHS) {
    const long = getInput(length)
    if (measureLeastMs(action, long) < MIN_MS) continue
    return measureLeastMs(action, long) / measureLeastMs(action, getInput(length / 4))
  }
  return undefined
}

/** Returns the shortest of three runs in ms, because a busy machine may slow one of them down. */
function measureLeastMs(action: (text: string) => void, input: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    least = Math.min(
      least,
      cpuMs(() => action(input)),
    )
    if (least < MIN_MS / MAX_RATIO) break
  }
  return least
}

/** The maximum number of measurements. Quadratic work looks quadratic every time, but linear work does so only on a busy machine. */
const MOST_LOOKS = 5

/** Returns the least growth in several measurements. */
function leastGrowth(action: (text: string) => void, getInput: (length: number) => string): number {
  let least = Number.POSITIVE_INFINITY
  for (let look = 0; look < MOST_LOOKS && least > MAX_RATIO; look++)
    least = Math.min(least, growth(action, getInput) ?? 0)
  return least
}

/** Returns an input that takes more than linear time. */
function worstInput(action: (text: string) => void, pattern: RegExp): string | undefined {
  const attacks = attacksOn(pattern)
  const worst = attacks.find((attack) => leastGrowth(action, attack) > MAX_RATIO)
  return worst?.(60)
}

/** Finds all matches, like callers that replace or split. */
const createSearch = (pattern: RegExp) => (text: string) => {
  pattern.lastIndex = 0
  if (pattern.global) text.replace(pattern, '')
  else pattern.test(text)
}

const { literals, builders } = read()

/** The number of patterns per test, because tests have a time limit. */
const PART = 100

patterns('the scan finds more than 300 patterns in the source', () => assert.ok(literals.length > 300))

for (let index = 0; index < literals.length; index += PART) {
  const part = literals.slice(index, index + PART)
  patterns(`patterns from number ${index + 1} on take linear time for any input`, () => {
    const slow = part.flatMap(({ where, pattern }) => {
      const input = worstInput(createSearch(pattern), pattern)
      return input === undefined ? [] : [`${where} on ${JSON.stringify(input)}`]
    })
    assert.equal(slow, [])
  })
}

/** The code that uses patterns built at run time, or the reason that it needs no test. */
const built: Record<string, string | [use: (text: string) => unknown, like: RegExp]> = {
  'adapters/mount/node/node-proxies.ts': 'operators write it, and the host names that it is held against are short',
  'src/cli/commands/init.ts':
    'its repeats are within one line of a file of the user, and each ends at another character',
  'src/features/guards/kinds/decode-escapes.ts': [
    decodeEscapes,
    /&(?:amp;|#0*38;)*(?:#x0*[\da-f]{1,6};?|[a-z]+;)|%(?:25)*[2-7][\da-f]|\\+(?:u[\da-f]{4}|x[\da-f]{2}|\d{3})?/,
  ],
  'src/features/guards/kinds/drop-markup.ts': [
    (text) => [dropMarkup(text, { isPiece: true }), dropMarkup(text)],
    /<\/?[a-z][\w-]*[\s/][^<>"']*(?:"[^"]*"|'[^']*')*>|\]\((?:[^()\n]|\([^()\n]*\))*\)|\[\^[^[\]\n]*\]|\*+|_{2,}|\\text[a-z]*\s?\{/,
  ],
  'src/protocols/formats/canonical/prepare/tool-calls.ts': 'its classes are repeated up to a limit, from one place',
  'src/protocols/formats/canonical/restore.ts':
    'it is read from one place, and each of its repeats ends at another character',
  'src/protocols/formats/gemini/gemini-response.ts': 'it has no repeats',
  'src/protocols/formats/errors/retry-after.ts': [
    parseWait,
    /(?:try again|retry(?: your requests?)?) in (?:\d+(?:\.\d+)?\s*s,? ?(?:and )?)+/,
  ],
  'src/protocols/formats/errors/rejected-fields.ts': 'its repeats have upper bounds',
  'src/protocols/formats/errors/context-window.ts': [
    readContextWindow,
    /(?:context length is |tokens > |context limit: [^>]+> ?)(?:\d+,?)+/,
  ],
}

patterns('every pattern that the source builds at run time is listed in this test', () => {
  assert.equal(builders, Object.keys(built).sort(), 'every file that builds patterns must be listed in this test')
  for (const [path, use] of Object.entries(built)) {
    if (typeof use === 'string') continue
    assert.is(worstInput(use[0], use[1]), undefined, path)
  }
})

patterns('every credential pattern in the source takes linear time for strings that providers quote', () => {
  for (const piece of [
    'eyJ-',
    'eyJ0.',
    'sk-',
    'AIza',
    'ya29.',
    'bearer ',
    '://a:',
    '-----BEGIN PRIVATE KEY-----',
    'gsk_',
  ]) {
    const ratio = leastGrowth(redactCredentialShapes, (length) => piece.repeat((4 * length) / piece.length))
    assert.ok(ratio <= MAX_RATIO, `${piece}: ${ratio}`)
  }
})

patterns('the test inputs detect a pattern that takes quadratic time', () => {
  for (const slow of [/\beyJ[\w-]{10,}\./g, /\/+$/, /a\s*b?\s*c/, /x+y*z?x*$/, /<[^>]*>/])
    assert.ok(worstInput(createSearch(slow), slow) !== undefined, slow.source)
})
