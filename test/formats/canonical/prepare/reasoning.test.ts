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
  'an effort becomes a budget': [{ effort: 'high' }, {}, { effort: 'high', budget: 16_384 }],
  'a budget becomes an effort': [{ budget: 9_000 }, {}, { effort: 'medium', budget: 9_000 }],
  'an effort of none stays none': [{ effort: 'none' }, {}, { effort: 'none', budget: 0 }],
  'an unsupported effort becomes the nearest one, and the lower one in a tie': [
    { effort: 'medium' },
    { efforts: ['low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'an effort of none becomes the lowest effort if the model always reasons': [
    { effort: 'none' },
    { efforts: ['low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'a low effort never becomes none, even if none is nearest': [
    { effort: 'minimal' },
    { efforts: ['none', 'low', 'high'] },
    { effort: 'low', budget: 2_048 },
    ['clamped:reasoning'],
  ],
  'an automatic budget stays automatic': [
    { budget: 'auto', show: 'summary' },
    { isDefault: true },
    { budget: 'auto', show: 'summary' },
  ],
  'an automatic budget gets an effort if the model does not reason by default': [
    { budget: 'auto' },
    {},
    { effort: 'medium', budget: 'auto' },
  ],
  'an automatic budget becomes a number if the target needs one': [
    { budget: 'auto' },
    { control: 'budget' },
    { effort: 'medium', budget: 8_192 },
  ],
  'a budget leaves room for the response': [
    { effort: 'high' },
    { control: 'budget' },
    { effort: 'high', budget: 4_000 },
    [],
    5_000,
  ],
  "the client's budget is lowered to fit the output limit": [
    { budget: 9_000 },
    { control: 'budget' },
    { effort: 'medium', budget: 4_999 },
    ['clamped:reasoning'],
    5_000,
  ],
  'an output limit that is too low for reasoning disables it': [
    { effort: 'high' },
    { control: 'budget' },
    { effort: 'none', budget: 0 },
    ['dropped:reasoning'],
    1_024,
  ],
  'a model without reasoning drops the effort': [
    { effort: 'high' },
    { control: 'none' },
    undefined,
    ['dropped:reasoning'],
  ],
  'a request that only sets whether to show reasoning stays unchanged': [{ show: 'none' }, {}, { show: 'none' }],
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

thinking('budgets are mapped to the usual efforts', () => {
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
const refusing = { reasoning: { ...baseTraits.reasoning, rejectsForcedTool: true } }

thinking('a forced call disables effort-based reasoning', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { effort: 'high' } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning, request.toolChoice], [undefined, { type: 'required' }])
  assert.equal(warnings, ['dropped:reasoning'])
})

thinking('budget-based reasoning stays on, and a forced tool choice becomes automatic', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { budget: 2_048 } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning?.budget, request.toolChoice], [2_048, { type: 'auto' }])
  assert.equal(warnings, ['replaced:toolChoice'])
})

const createTraits = (fields: Partial<ReasoningTraits>) => ({
  traits: { reasoning: { ...baseTraits.reasoning, ...fields } },
})
const OFF = { effort: 'none', budget: 0 }

thinking('default reasoning is disabled for a forced call, with a warning', () => {
  const target = createTraits({ rejectsForcedTool: true, isDefault: true })
  const { request, warnings } = prepare({ ...forced, tools: [f] }, target)
  assert.equal([request.options.reasoning, request.toolChoice], [OFF, { type: 'required' }])
  assert.equal(warnings, ['added:reasoning'])
})

thinking("tools disable reasoning if the target doesn't support both, even with a budget", () => {
  const target = createTraits({ rejectsTools: true })
  const body = { tools: [f], options: { reasoning: { budget: 2_048 } } }
  assert.equal(prepare(body, target).request.options.reasoning, undefined)
  assert.equal(prepare(body, target).warnings, ['dropped:reasoning'])
  assert.equal(prepare(body, createTraits({ rejectsTools: true, isDefault: true })).request.options.reasoning, OFF)
  assert.equal(prepare({ tools: [f] }, target).warnings, [])
})

thinking("reasoning that can't be disabled is left to the target", () => {
  const { request } = prepare(
    { tools: [f] },
    createTraits({ rejectsTools: true, isDefault: true, efforts: ['low', 'high'] }),
  )
  assert.is(request.options.reasoning, undefined)
})

thinking('options that conflict with reasoning are dropped', () => {
  const excludes = ['temperature', 'topP'] as const
  const prepareSampling = (options: RequestOptions, isDefault: boolean) =>
    Object.keys(
      prepare({ options: { temperature: 1, ...options } }, createTraits({ excludes, isDefault })).request.options,
    )
  assert.equal(prepareSampling({}, false), ['temperature'])
  assert.equal(prepareSampling({}, true), [])
  assert.equal(prepareSampling({ reasoning: { show: 'none' } }, false), ['temperature', 'reasoning'])
  assert.equal(prepareSampling({ reasoning: { effort: 'none' } }, true), ['temperature', 'reasoning'])
  assert.equal(prepareSampling({ reasoning: { effort: 'low' } }, false), ['reasoning'])
})
