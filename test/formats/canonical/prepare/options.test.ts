import { baseTraits } from '../../../../src/formats/canonical/base-traits.ts'
import { createRenamer } from '../../../../src/formats/canonical/prepare/names.ts'
import { effortOf } from '../../../../src/formats/canonical/prepare/reasoning.ts'
import type { ReasoningOptions, RequestOptions } from '../../../../src/formats/canonical/request.ts'
import type { Tool, ToolChoice } from '../../../../src/formats/canonical/tools.ts'
import type { ReasoningTraits, Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { assistant, call, prepare, text, user } from './world.ts'

const options = suite('options prepared for a target')

options('lose what it does not take, and say so', () => {
  const { request, warnings } = prepare(
    { options: { seed: 1, topK: 2, topP: 0.5 } },
    { carries: ['seed', 'topP'], traits: { lacks: ['topP'] } },
  )
  assert.equal(request.options, { seed: 1 })
  assert.equal(warnings, ['dropped:topK', 'dropped:topP'])
})

options('stay within its ranges', () => {
  const asked: RequestOptions = { temperature: 1.5, stop: ['a', 'b'], maxOutputTokens: 10 }
  const { request, warnings } = prepare(
    { options: asked },
    { traits: { maxTemperature: 1, maxStopSequences: 1, minOutputTokens: 16 } },
  )
  assert.equal(request.options, { temperature: 1, stop: ['a'], maxOutputTokens: 16 })
  assert.equal(warnings, ['clamped:temperature', 'clamped:stop', 'clamped:maxOutputTokens'])
})

options('are refused where the answer would be another one', () => {
  assert.throws(() => prepare({ options: { candidates: 2 } }, { carries: [] }), /"candidates": the target cannot/)
  assert.equal(prepare({ options: { candidates: 1, modalities: ['text'] } }, { carries: [] }).request.options, {})
})

const thinking = suite('thinking prepared for a target')

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
  'the model may choose': [{ budget: 'auto', show: 'summary' }, {}, { budget: 'auto', show: 'summary' }],
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

for (const [name, [asked, traits, expected, warnings = [], maxOutputTokens]] of Object.entries(rows)) {
  thinking(name, () => {
    const given: RequestOptions =
      maxOutputTokens === undefined ? { reasoning: asked } : { reasoning: asked, maxOutputTokens }
    const prepared = prepare({ options: given }, { traits: { reasoning: { ...baseTraits.reasoning, ...traits } } })
    assert.equal(prepared.request.options.reasoning, expected)
    assert.equal(prepared.warnings, warnings)
  })
}

thinking('budgets read in reverse as the usual efforts', () => {
  const efforts = [0, 1_024, 2_000, 4_096, 9_000, 12_000, 23_000, 30_000, 90_000].map((budget) =>
    effortOf(budget, baseTraits.reasoning.budgets),
  )
  assert.equal(efforts, ['none', 'low', 'low', 'medium', 'medium', 'high', 'high', 'xhigh', 'xhigh'])
})

const f: Tool = { type: 'function', name: 'f' }
const g: Tool = { type: 'function', name: 'g' }
const forced = { toolChoice: { type: 'required' }, tools: [f] } as const
const refusing = { reasoning: { ...baseTraits.reasoning, refusesForcedTool: true } }

thinking('gives way to a forced call when it was a matter of effort', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { effort: 'high' } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning, request.toolChoice], [undefined, { type: 'required' }])
  assert.equal(warnings, ['dropped:reasoning'])
})

thinking('that was asked for by its budget stays, and the call is no longer forced', () => {
  const { request, warnings } = prepare(
    { toolChoice: forced.toolChoice, tools: [f], options: { reasoning: { budget: 2_048 } } },
    { traits: refusing },
  )
  assert.equal([request.options.reasoning?.budget, request.toolChoice], [2_048, { type: 'auto' }])
  assert.equal(warnings, ['replaced:toolChoice'])
})

const own = (fields: Partial<ReasoningTraits>) => ({ traits: { reasoning: { ...baseTraits.reasoning, ...fields } } })
const OFF = { effort: 'none', budget: 0 }

thinking('of itself is turned off for a forced call, and the client hears of it', () => {
  const target = own({ refusesForcedTool: true, isDefault: true })
  const { request, warnings } = prepare({ ...forced, tools: [f] }, target)
  assert.equal([request.options.reasoning, request.toolChoice], [OFF, { type: 'required' }])
  assert.equal(warnings, ['added:reasoning'])
})

thinking('gives way to tools where it excludes them, even by its budget', () => {
  const target = own({ refusesTools: true })
  const asked = { tools: [f], options: { reasoning: { budget: 2_048 } } }
  assert.equal(prepare(asked, target).request.options.reasoning, undefined)
  assert.equal(prepare(asked, target).warnings, ['dropped:reasoning'])
  assert.equal(prepare(asked, own({ refusesTools: true, isDefault: true })).request.options.reasoning, OFF)
  assert.equal(prepare({ tools: [f] }, target).warnings, [])
})

thinking('that cannot be turned off is left to the target', () => {
  const { request } = prepare({ tools: [f] }, own({ refusesTools: true, isDefault: true, efforts: ['low', 'high'] }))
  assert.is(request.options.reasoning, undefined)
})

thinking('drops the options that it excludes, while there is any', () => {
  const excludes = ['temperature', 'topP'] as const
  const sampled = (options: RequestOptions, isDefault: boolean) =>
    Object.keys(prepare({ options: { temperature: 1, ...options } }, own({ excludes, isDefault })).request.options)
  assert.equal(sampled({}, false), ['temperature'])
  assert.equal(sampled({}, true), [])
  assert.equal(sampled({ reasoning: { show: 'none' } }, false), ['temperature', 'reasoning'])
  assert.equal(sampled({ reasoning: { effort: 'none' } }, true), ['temperature', 'reasoning'])
  assert.equal(sampled({ reasoning: { effort: 'low' } }, false), ['reasoning'])
})

const tools = suite('tools prepared for a target')

const choices: Record<
  string,
  [choice: ToolChoice, knows: Traits['toolChoices'], expected: ToolChoice | undefined, tools: string[]]
> = {
  'allowed ones': [
    { type: 'allowed', mode: 'auto', names: ['g'] },
    ['allowed'],
    { type: 'allowed', mode: 'auto', names: ['g'] },
    ['f', 'g'],
  ],
  'allowed ones where only others are known': [
    { type: 'allowed', mode: 'required', names: ['g'] },
    ['required'],
    { type: 'required' },
    ['g'],
  ],
  'a named one where only force is known': [{ type: 'tool', name: 'g' }, ['required'], { type: 'required' }, ['g']],
  'force where there is none': [{ type: 'required' }, [], { type: 'auto' }, ['f', 'g']],
  'none where it cannot be said': [{ type: 'none' }, [], undefined, []],
}

for (const [name, [toolChoice, toolChoices, expected, names]] of Object.entries(choices)) {
  tools(`are chosen: ${name}`, () => {
    const { request } = prepare({ tools: [f, g], toolChoice }, { traits: { toolChoices } })
    assert.equal(request.toolChoice, expected)
    assert.equal(
      request.tools.map((tool) => ('name' in tool ? tool.name : '')),
      names,
    )
  })
}

tools('that are not called are left out with none, for they would run all the same', () => {
  const search: Tool = { type: 'web-search' }
  const none = { toolChoice: { type: 'none' } } as const
  const traits = { webSearch: true }
  assert.equal(prepare({ ...none, tools: [f, search] }, { traits }).request.tools, [f])
  const { request } = prepare({ ...none, tools: [search] }, { traits })
  assert.equal([request.tools, request.toolChoice], [[], undefined])
})

tools('hold no marks of caching where only the conversation can', () => {
  const traits = { cacheMarks: 'prompt_cache_breakpoint', maxCacheMarks: 1 } as const
  const marked = user({ ...text('q'), cache: {} })
  const { request, warnings } = prepare({ tools: [{ ...f, cache: {} }], turns: [marked] }, { traits })
  assert.equal([request.tools, request.turns], [[f], [marked]])
  assert.equal(warnings, ['dropped:cache'])
})

tools('are not chosen when there are none', () => {
  assert.is(prepare({ toolChoice: { type: 'auto' } }).request.toolChoice, undefined)
  assert.equal(prepare({ options: { parallelToolCalls: false } }).request.options, {})
})

tools('have names that it takes, everywhere', () => {
  const { request, restoration } = prepare({
    tools: [{ type: 'function', name: 'a.b' }],
    toolChoice: { type: 'tool', name: 'a.b' },
    turns: [user('q'), assistant(call('1', 'a.b'))],
  })
  assert.equal(request.tools, [{ type: 'function', name: 'a_b' }])
  assert.equal(request.toolChoice, { type: 'tool', name: 'a_b' })
  assert.equal(request.turns.at(-1), assistant(call('1', 'a_b')))
  assert.equal([...restoration.toolNames], [['a_b', 'a.b']])
})

tools('of free text become functions with one input where it knows none', () => {
  const { request, restoration } = prepare({
    tools: [{ type: 'free-form', name: 'sql', description: 'd' }],
    turns: [
      user('q'),
      assistant({ type: 'tool-call', id: '1', name: 'sql', arguments: 'select "1"', isFreeForm: true }),
    ],
  })
  const [tool] = request.tools
  assert.ok(tool?.type === 'function' && tool.description === 'd' && tool.schema?.required)
  assert.equal(
    request.turns.at(-1),
    assistant({ type: 'tool-call', id: '1', name: 'sql', arguments: '{"input":"select \\"1\\""}' }),
  )
  assert.ok(restoration.freeFormTools.has('sql'))
})

tools('that only the history knows are declared where it insists', () => {
  const { request } = prepare({ turns: [user('q'), assistant(call('1', 'h'))] }, { traits: { declaresTools: true } })
  assert.equal(
    request.tools.map((tool) => ('name' in tool ? tool.name : '')),
    ['h'],
  )
})

tools('search only where it can', () => {
  assert.throws(() => prepare({ tools: [{ type: 'web-search' }] }), /no search of its own/)
})

const names = suite('names that a target takes')

names('are the same for the same one and different for different ones', () => {
  const mistral = { characters: 'A-Za-z0-9', maxLength: 9, isExact: true }
  const ids = ['toolu_01', 'toolu_02', 'abcdefghi', 'x'.repeat(90)]
  const rename = createRenamer(ids, mistral)
  const renamed = ids.map(rename)
  assert.ok(
    renamed.every((id) => /^[A-Za-z0-9]{9}$/.test(id)),
    renamed.join(),
  )
  assert.is(new Set(renamed).size, 4)
  assert.is(renamed[2], 'abcdefghi')
  assert.equal(ids.map(createRenamer(ids, mistral)), renamed)
  const plain = createRenamer(['a.b', 'a_b', 'a:b', '1x'], { characters: 'a-z0-9_', first: 'a-z_', maxLength: 20 })
  assert.is(plain('a_b'), 'a_b')
  assert.is(plain('1x'), '_1x')
  assert.is(new Set(['a.b', 'a_b', 'a:b'].map(plain)).size, 3)
  assert.is(createRenamer([], { characters: 'a-z', maxLength: 12 })('x'.repeat(50)).length, 12)
})

const output = suite('a form of answer prepared for a target')
const schema = { type: 'object', properties: {} }

output('is a tool that has to be called where it knows no schema', () => {
  const given = { traits: { outputFormats: [] } }
  const { request, restoration } = prepare({ output: { type: 'json-schema', schema, name: 'city' } }, given)
  assert.equal(request.toolChoice, { type: 'tool', name: 'city' })
  assert.is(request.output, undefined)
  assert.is(restoration.outputTool, 'city')
  assert.equal(prepare({ output: { type: 'json-schema', schema }, tools: [f] }, given).request.toolChoice, {
    type: 'required',
  })
})

output('is asked for in words where it knows no form, or wants the word', () => {
  const { request, warnings } = prepare(
    { output: { type: 'json' }, turns: [user('q')] },
    { traits: { outputFormats: [] } },
  )
  assert.match(JSON.stringify(request.turns[0]), /JSON object/)
  assert.equal(warnings, ['replaced:output'])
  const turns = (words: string) =>
    prepare({ output: { type: 'json' }, turns: [user(text(words))] }, { traits: { jsonNeedsWord: true } }).request.turns
      .length
  assert.equal([turns('as JSON please'), turns('q')], [1, 2])
})
