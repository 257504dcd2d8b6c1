import { nearest } from '../../src/lib/spelling.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('nearest names')

for (const [word, candidates, expected] of [
  ['isActiv', ['name', 'isActive'], ['isActive']],
  ['isActvie', ['name', 'isActive'], ['isActive']], // neighbours swapped
  ['ISACTIVE', ['isActive'], ['isActive']],
  ['opnai', ['openai', 'openrouter'], ['openai']],
  ['gpt-4o', ['claude', 'openai/gpt-4o'], ['openai/gpt-4o']],
  ['gpt-4o', ['openai/gpt-4o-mini', 'openai/gpt-4o', 'gpt-4p'], ['openai/gpt-4o', 'gpt-4p', 'openai/gpt-4o-mini']],
  ['oa/gpt-4p', ['oa/gpt-4o', 'oa/o1'], ['oa/gpt-4o']],
  ['anthropic/claude-sonet-4', ['claude-sonnet-4', 'anthropic/claude-sonnet-4'], ['anthropic/claude-sonnet-4']],
  ['gpt-4p', ['x/gpt-4o', 'gpt-4o'], ['gpt-4o', 'x/gpt-4o']], // the whole name before a part of one
  ['ab', ['ba'], ['ba']],
  ['a', ['b'], ['b']],
  ['ab', ['yz'], []],
  ['', ['a'], []],
  ['xyz', [], []],
  ['x'.repeat(201), ['x'.repeat(201)], []],
] as const) {
  test(`"${word.slice(0, 30)}" among ${candidates.length}: ${expected.join(', ') || 'none'}`, () => {
    assert.equal(nearest(word, candidates), expected)
  })
}

test('nearest() answers the best `max`, each once', () => {
  const candidates = ['model-1', 'model-2', 'model-2', 'model-3', 'model']
  assert.equal(nearest('model', candidates, 2), ['model', 'model-1'])
  assert.is(nearest('model', candidates).length, 3)
})

test('5,000 candidates take milliseconds', () => {
  const candidates = Array.from({ length: 5_000 }, (_, at) => `provider-${at % 70}/model-name-${at}-instruct`)
  nearest('provider-3/model-nam-3-instruct', candidates)
  const before = busyMs()
  assert.is(nearest('provider-3/model-nam-3-instruct', candidates)[0], 'provider-3/model-name-3-instruct')
  assert.ok(busyMs() - before < 2_000)
})
