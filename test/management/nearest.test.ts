import { findNearest } from '../../src/lib/spelling.ts'
import { busyMs, cpuMs, roundsUntil } from '../support/cpu-time.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('nearest names')

for (const [word, candidates, expected] of [
  ['isActiv', ['name', 'isActive'], ['isActive']],
  ['isActvie', ['name', 'isActive'], ['isActive']], // swapped letters
  ['ISACTIVE', ['isActive'], ['isActive']],
  ['opnai', ['openai', 'openrouter'], ['openai']],
  ['gpt-4o', ['claude', 'openai/gpt-4o'], ['openai/gpt-4o']],
  ['gpt-4o', ['openai/gpt-4o-mini', 'openai/gpt-4o', 'gpt-4p'], ['openai/gpt-4o', 'gpt-4p', 'openai/gpt-4o-mini']],
  ['oa/gpt-4p', ['oa/gpt-4o', 'oa/o1'], ['oa/gpt-4o']],
  ['anthropic/claude-sonet-4', ['claude-sonnet-4', 'anthropic/claude-sonnet-4'], ['anthropic/claude-sonnet-4']],
  ['gpt-4p', ['x/gpt-4o', 'gpt-4o'], ['gpt-4o', 'x/gpt-4o']], // a full match comes before a partial match
  ['ab', ['ba'], ['ba']],
  ['a', ['b'], ['b']],
  ['ab', ['yz'], []],
  ['', ['a'], []],
  ['xyz', [], []],
  ['x'.repeat(201), ['x'.repeat(201)], []],
] as const) {
  test(`suggests ${expected.join(', ') || 'nothing'} for "${word.slice(0, 30)}" from ${candidates.length} candidates`, () => {
    assert.equal(findNearest(word, candidates), expected)
  })
}

test('nearest() returns the best `max` candidates, each once', () => {
  const candidates = ['model-1', 'model-2', 'model-2', 'model-3', 'model']
  assert.equal(findNearest('model', candidates, 2), ['model', 'model-1'])
  assert.is(findNearest('model', candidates).length, 3)
})

test('compares 5,000 candidates in milliseconds', () => {
  const candidates = Array.from({ length: 5_000 }, (_, index) => `provider-${index % 70}/model-name-${index}-instruct`)
  findNearest('provider-3/model-nam-3-instruct', candidates)
  const before = busyMs()
  assert.is(findNearest('provider-3/model-nam-3-instruct', candidates)[0], 'provider-3/model-name-3-instruct')
  assert.ok(busyMs() - before < 2_000)
})

const random = createRandom(7)
const letters = (length: number) => Array.from({ length }, () => String.fromCharCode(97 + random.below(26))).join('')
const shared = letters(180)
const createNames = (getName: (at: number) => string) => Array.from({ length: 3_000 }, (_, index) => getName(index))

for (const [label, word, candidates] of [
  ['that differs from all others', letters(200), createNames(() => `provider/${letters(190)}`)],
  [
    'that differs only slightly from every other name',
    `x${shared}99xx9`,
    createNames((index) => `p/${shared}${index + 10_000}`),
  ],
  ['that repeats one letter', `b${'a'.repeat(190)}bbbb`, createNames((index) => `${'a'.repeat(190)}${index + 10_000}`)],
  ['made of the same letters', `q${'ba'.repeat(90)}cccc`, createNames(() => `p${'ab'.repeat(90)}${letters(4)}`)],
  [
    'of a hundred letters',
    `x${shared.slice(0, 90)}99xx9`,
    createNames((index) => `p/${shared.slice(0, 90)}${index + 10_000}`),
  ],
  ['of typical length', 'openruter/vendor/modle-12x', createNames((index) => `openrouter/vendor/model-${index + 100}`)],
] as const)
  test(`compares a name ${label} to 3,000 names in at most 10 ms`, async () => {
    const times = await roundsUntil(10, () => cpuMs(() => findNearest(word, candidates)))
    assert.ok(Math.min(...times) <= 10, `${times}`)
  })

test('finds a name among 3,000 similar ones', () => {
  const names = createNames((index) => `openrouter/${shared.slice(0, 40)}-${index}`)
  assert.is(findNearest(`openrouter/${shared.slice(0, 39)}-2977`, names)[0], `openrouter/${shared.slice(0, 40)}-2977`)
})
