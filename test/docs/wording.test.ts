import { assert, suite } from '../support/suite.ts'
import { NO_TEXT, NOT_YET, PATTERNS } from './banned-words.ts'
import { type Passage, passagesOfCode, passagesOfPages } from './prose.ts'

const MAX_WORDS = 30

const findFaults = ({ file, text }: Passage): string[] => [
  ...PATTERNS.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text)
    const around = found && text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40)
    return found ? [`${file}: "${found[0]}" in "…${around}…": ${instead}`] : []
  }),
  ...splitSentences(text)
    .map((sentence) => sentence.split(/\s+/).length)
    .filter((length) => length > MAX_WORDS)
    .map((length) => `${file}: a sentence of ${length} words in "${text.slice(0, 60)}…": ${MAX_WORDS} at most`),
]

const splitSentences = (text: string) => text.split(/(?<=[.!?:]["')]*)\s+(?=["'(]*[`A-Zx\d])/)

/** Returns whether a list entry covers this file. */
const isMeant = (entry: string, file: string) =>
  entry.endsWith('/') ? file.startsWith(entry) && !file.endsWith('.md') : file === entry
const isWaiting = (file: string) => NOT_YET.some((entry) => isMeant(entry, file))

const test = suite('the wording of pages and messages')

for (const [label, read, fewest] of [
  ['pages', passagesOfPages, 1_000],
  ['messages, help texts, and dashboard texts', passagesOfCode, 1_000],
] as const)
  test(`${label} contain no banned words, British spellings, or long sentences`, () => {
    const passages = read()
    assert.ok(passages.length > fewest, `only ${passages.length} passages were found`)
    const faults = passages.filter(({ file }) => !isWaiting(file) && !NO_TEXT.includes(file)).flatMap(findFaults)
    assert.is(faults.length, 0, `${faults.length} faults:\n${faults.join('\n')}`)
  })

test('every file that is exempt from the wording rules still has a fault', () => {
  const faulty = [...passagesOfPages(), ...passagesOfCode()].filter((passage) => findFaults(passage).length > 0)
  const done = NOT_YET.filter((entry) => !faulty.some(({ file }) => isMeant(entry, file)))
  assert.equal(
    done,
    [],
    `nothing is left to rewrite: remove ${done.join(', ')} from NOT_YET in test/docs/banned-words.ts`,
  )
})

for (const [text, isFault] of [
  ['An empty body is a 400.', true],
  ['This is no valid port.', true],
  ['Of two requests, one passes.', true],
  ['The gateway has not a key.', true],
  ['The gateway has not started yet.', true],
  ["The gateway hasn't started yet.", false],
  ['An empty body returns a 400.', false],
  ['The behaviour of the licence.', true],
  [`One ${'word '.repeat(30)}.`, true],
  [`One ${'word '.repeat(20)}. One ${'word '.repeat(20)}.`, false],
] as const)
  test(`the wording test ${isFault ? 'rejects' : 'accepts'}: ${text.slice(0, 60)}`, () => {
    assert.is(findFaults({ file: 'a.md', text }).length > 0, isFault)
  })
