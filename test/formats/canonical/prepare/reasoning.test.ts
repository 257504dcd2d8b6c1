import { baseTraits } from '../../../../src/protocols/formats/canonical/base-traits.ts'
import type { ReasoningOptions, RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Tool } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { toEffort } from '../../../../src/protocols/formats/canonical/prepare/reasoning.ts'
import type { ReasoningTraits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { prepare } from './support/prepare.ts'

const thinking = suite('reasoning prepared for a target')

type Row = [
  asked: ReasoningOptions,
  traits: Partial<ReasoningTraits>,
  expected: ReasoningOptions | undefined,
  warnings?: string[],
  limit?: number,
]

const rows: Record<string, Row> = {
  'an effort gets its budget': [{ effort: 'high' }, {}, { effort: 'high', budget: 16_384 }],
  'a budget gets its effort': [{ budget: 9_000 }, {}, { effort: 'medium', budget: 9_000 }],
  'none is none': [{ effort: 'none' }, {}, { effort: 'none', budget: 0 }],
  'an effort that it lacks becomes the nearest, the lower of two': [
    { effort: 'medium' },
    { efforts: ['low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'none where it always thinks becomes the least': [
    { effort: 'none' },
    { efforts: ['low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'a little thought is not none, however near': [
    { effort: 'minimal' },
    { efforts: ['none', 'low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'the model may choose': [
    { budget: 'auto', show: 'summary' },
    { isDefault: true },
    { budget: 'auto', show: 'summary' },
  ],
  'but not where it does not think unasked': [{ budget: 'auto' }, {}, { effort: 'medium', budget: 'auto' }],
  'but not where a number is needed': [{ budget: 'auto' }, { by: 'budget' }, { effort: 'medium', budget: 8_192 }],
  'a budget leaves room for the answer': [
    { effort: 'high' },
    { by: 'budget' },
    { effort: 'high', budget: 4_000 },
    [],
    5_000,
  ],
  'a budget that the client named is cut below the limit': [
    { budget: 9_000 },
    { by: 'budget' },
    { effort: 'medium', budget: 4_999 },
    ['clamped:reasoning'],
    5_000,
  ],
  'a limit too small for any thought turns it off': [
    { effort: 'high' },
    { by: 'budget' },
    { effort: 'none', budget: 0 },
    ['dropped:reasoning'],
    1_024,
  ],
  'a model that cannot be asked': [{ effort: 'high' }, { by: 'none' }, undefined, ['dropped:reasoning']],
  'whether to show is all that was said': [{ show: 'none' }, {}, { show: 'none' }],
}

for (const [name, [body, traits, expected, warnings = [], maxOutputTokens]] of Object.entries(rows)) {
  thinking(name, () => {
    const input: RequestOptions =
      maxOutputTokens === undefined ? { reasoning: body } : { reasoning: body, maxOutputTokens }
    const prepared = prepare({ options: input }, { traits: { reasoning: { ...baseTraits.reasoning, ...traits } } })
    assert.equal(prepared.request.options.reasoning, expected)
    assert.equal(prepared.warnings, warnings)
  })
}

thinking('budgets become the usual efforts', () => {
  const efforts = {
    none: [0],
    low: [1_024, 2_048],
    medium: [4_000, 9_999],
    high: [10_000, 23_999],
    xhigh: [24_000, 90_000],
  }
  for (const [effort, budgets] of Object.entries(efforts))
    for (const budget of budgets) assert.is(toEffort(budget), effort, `${budget}`)
})

const f: Tool = { type: 'function', name: 'f' }

const forced = { toolChoice: { type: 'required' }, tools: [f] } as const
const refusing = { reasoning: { ...baseTraits.reasoning, refusesForcedTool: true } }

thinking('a forced call disables reasoning by effort', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { effort: 'high' } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning, request.toolChoice], [undefined, { type: 'required' }])
  assert.equal(warnings, ['dropped:reasoning'])
})

thinking('reasoning by budget stays, and the call is no longer forced', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { budget: 2_048 } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning?.budget, request.toolChoice], [2_048, { type: 'auto' }])
  assert.equal(warnings, ['replaced:toolChoice'])
})

const own = (fields: Partial<ReasoningTraits>) => ({ traits: { reasoning: { ...baseTraits.reasoning, ...fields } } })
const OFF = { effort: 'none', budget: 0 }

thinking('default reasoning is disabled for a forced call, with a warning', () => {
  const target = own({ refusesForcedTool: true, isDefault: true })
  const { request, warnings } = prepare({ ...forced, tools: [f] }, target)
  assert.equal([request.options.reasoning, request.toolChoice], [OFF, { type: 'required' }])
  assert.equal(warnings, ['added:reasoning'])
})

thinking('tools disable reasoning if the target excludes both together, even with a budget', () => {
  const target = own({ refusesTools: true })
  const body = { tools: [f], options: { reasoning: { budget: 2_048 } } }
  assert.equal(prepare(body, target).request.options.reasoning, undefined)
  assert.equal(prepare(body, target).warnings, ['dropped:reasoning'])
  assert.equal(prepare(body, own({ refusesTools: true, isDefault: true })).request.options.reasoning, OFF)
  assert.equal(prepare({ tools: [f] }, target).warnings, [])
})

thinking('reasoning that cannot be disabled is left to the target', () => {
  const { request } = prepare({ tools: [f] }, own({ refusesTools: true, isDefault: true, efforts: ['low', 'high'] }))
  assert.is(request.options.reasoning, undefined)
})

thinking('reasoning drops the options that it excludes', () => {
  const excludes = ['temperature', 'topP'] as const
  const sampled = (options: RequestOptions, isDefault: boolean) =>
    Object.keys(prepare({ options: { temperature: 1, ...options } }, own({ excludes, isDefault })).request.options)
  assert.equal(sampled({}, false), ['temperature'])
  assert.equal(sampled({}, true), [])
  assert.equal(sampled({ reasoning: { show: 'none' } }, false), ['temperature', 'reasoning'])
  assert.equal(sampled({ reasoning: { effort: 'none' } }, true), ['temperature', 'reasoning'])
  assert.equal(sampled({ reasoning: { effort: 'low' } }, false), ['reasoning'])
})
