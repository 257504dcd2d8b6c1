import type { RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Tool, ToolChoice } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { assert, suite } from '../../../support/suite.ts'
import { prepare, text, user } from './support/prepare.ts'

const options = suite('options prepared for a target')

options("options that the target doesn't support are dropped with a warning", () => {
  const { request, warnings } = prepare(
    { options: { seed: 1, topK: 2, topP: 0.5 } },
    { supportedOptions: ['seed', 'topP'], traits: { lacks: ['topP'] } },
  )
  assert.equal(request.options, { seed: 1 })
  assert.equal(warnings, ['dropped:topK', 'dropped:topP'])
})

options('default values are dropped without a warning', () => {
  const unsaid: RequestOptions = {
    ...{ frequencyPenalty: 0, presencePenalty: 0, temperature: 1, topP: 1, logitBias: {}, stop: [], labels: {} },
    ...{ parallelToolCalls: true, serviceTier: 'auto', store: false, verbosity: 'medium' },
  }
  const { request, warnings } = prepare({ options: unsaid }, { supportedOptions: [] })
  assert.equal([request.options, warnings], [{}, []])
  const message: RequestOptions = { frequencyPenalty: 1, logitBias: { 1: 1 }, store: true, verbosity: 'low', topP: 0.9 }
  assert.is(prepare({ options: message }, { supportedOptions: [] }).warnings.length, 5)
})

options("options are clamped to the target's ranges", () => {
  const body: RequestOptions = { temperature: 1.5, stop: ['a', 'b'], maxOutputTokens: 10 }
  const { request, warnings } = prepare(
    { options: body },
    { traits: { maxTemperature: 1, maxStopSequences: 1, minOutputTokens: 16 } },
  )
  assert.equal(request.options, { temperature: 1, stop: ['a'], maxOutputTokens: 16 })
  assert.equal(warnings, ['clamped:temperature', 'clamped:stop', 'clamped:maxOutputTokens'])
})

options('options that would change the response if dropped are rejected', () => {
  assert.throws(
    () => prepare({ options: { candidates: 2 } }, { supportedOptions: [] }),
    /"candidates": the target does not support/,
  )
  assert.equal(
    prepare({ options: { candidates: 1, modalities: ['text'] } }, { supportedOptions: [] }).request.options,
    {},
  )
})

options('allowing parallel calls causes no warning if the target allows them anyway', () => {
  const { request, warnings } = prepare({ options: { parallelToolCalls: true }, tools: [f] }, { supportedOptions: [] })
  assert.equal([request.options, warnings], [{}, []])
  assert.equal(prepare({ options: { parallelToolCalls: false }, tools: [f] }, { supportedOptions: [] }).warnings, [
    'dropped:parallelToolCalls',
  ])
})

const f: Tool = { type: 'function', name: 'f' }

const output = suite('an output format prepared for a target')
const schema = { type: 'object', properties: {} }

output("an output schema becomes a forced tool if the target doesn't support schemas", () => {
  const input = { traits: { outputFormats: [] } }
  const { request, restoration } = prepare({ output: { type: 'json-schema', schema, name: 'city' } }, input)
  assert.equal(request.toolChoice, { type: 'tool', name: 'city' })
  assert.is(request.output, undefined)
  assert.is(restoration.outputTool, 'city')
  assert.equal(prepare({ output: { type: 'json-schema', schema }, tools: [f] }, input).request.toolChoice, {
    type: 'required',
  })
})

const choices: Record<string, [choice: ToolChoice, chosen: ToolChoice, hasTool: boolean]> = {
  'any call': [{ type: 'required' }, { type: 'required' }, false],
  'one call': [{ type: 'tool', name: 'f' }, { type: 'tool', name: 'f' }, false],
  'one of several calls': [
    { type: 'allowed', mode: 'required', names: ['f'] },
    { type: 'allowed', mode: 'required', names: ['f'] },
    false,
  ],
  'one of several calls, or none': [
    { type: 'allowed', mode: 'auto', names: ['f'] },
    { type: 'allowed', mode: 'required', names: ['f', 'answer'] },
    true,
  ],
  'no calls': [{ type: 'none' }, { type: 'tool', name: 'answer' }, true],
}

for (const [name, [toolChoice, chosen, hasTool]] of Object.entries(choices)) {
  output(`an output tool keeps the client's tool choice: ${name}`, () => {
    const { request, warnings } = prepare(
      { output: { type: 'json-schema', schema }, tools: [f, { ...f, name: 'g' }], toolChoice },
      { traits: { outputFormats: [] } },
    )
    assert.equal([request.toolChoice, request.tools.length], [chosen, hasTool ? 3 : 2])
    assert.equal(warnings, hasTool ? ['replaced:output'] : []) // a forced call isn't a response
  })
}

output('JSON output is requested through an instruction if the target needs one', () => {
  const { request, warnings } = prepare(
    { output: { type: 'json' }, turns: [user('q')] },
    { traits: { outputFormats: [] } },
  )
  assert.match(JSON.stringify(request.turns[0]), /JSON object/)
  assert.equal(warnings, ['replaced:output'])
  const createTurns = (content: string) =>
    prepare({ output: { type: 'json' }, turns: [user(text(content))] }, { traits: { jsonNeedsWord: true } }).request
      .turns.length
  assert.equal([createTurns('as JSON please'), createTurns('q')], [1, 2])
})
