import fc from 'fast-check'
import type { AssistantPart, ToolCallPart, UserPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../../src/protocols/formats/canonical/canonical-response.ts'
import type { Tool, ToolChoice } from '../../../src/protocols/formats/canonical/canonical-tools.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { omitUndefined } from '../../../src/protocols/formats/canonical/canonical-values.ts'

/* These generate only content that every format supports. */

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
/** Never generates only whitespace, which Anthropic rejects. */
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `${text}.`)
const name = fc.stringMatching(/^[a-z][a-z_]{0,9}$/)
const text = (said: string) => ({ type: 'text' as const, text: said })

const args = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)), {
    maxKeys: 3,
  })
  .map((value) => JSON.stringify(value))

const getCalls = (round: number | string): fc.Arbitrary<ToolCallPart[]> =>
  fc
    .array(fc.record({ name, arguments: args }), { maxLength: 3 })
    .map((calls) => calls.map((call, index) => ({ type: 'tool-call', id: `call_${round}_${index}`, ...call })))

/** Reasoning, text, and calls, in the order that all formats preserve. */
const content = (round: number | string): fc.Arbitrary<AssistantPart[]> =>
  fc
    .record({ said: maybe(words), calls: getCalls(round) })
    .map(({ said, calls }) => [...(said !== undefined || calls.length === 0 ? [text(said ?? 'Well.')] : []), ...calls])

const usage = fc
  .record({ rest: fc.nat(999), read: fc.nat(99), said: fc.nat(999), thought: fc.nat(99) })
  .map(({ rest, read, said, thought }) => ({
    ...{ inputTokens: rest + read, cacheReadTokens: read },
    ...{ outputTokens: said + thought, reasoningTokens: thought },
  }))

/** Generates a response with a finish reason that matches its content, or a truncated response. */
export const response: fc.Arbitrary<CanonicalResponse> = fc
  .record({
    thought: maybe(words),
    said: content('a'),
    usage,
    end: fc.constantFrom('whole', 'length', 'content-filter'),
  })
  .map(({ thought, said, usage: tokens, end }) => {
    const isCalling = said.some(({ type }) => type === 'tool-call')
    const reason = end === 'whole' ? (isCalling ? 'tool-calls' : 'stop') : (end as 'length' | 'content-filter') // one of the values above
    const parts: AssistantPart[] = [
      ...(thought === undefined ? [] : [{ type: 'reasoning' as const, text: thought }]),
      ...said,
    ]
    return { choices: [{ content: parts, finish: { reason } }], usage: tokens }
  })

const base64 = (mediaType: string, data: string) => ({ type: 'base64' as const, mediaType, data })
const shown = fc.constantFrom<UserPart[]>(
  { type: 'image', source: base64('image/png', 'iVBORw0KGgo=') },
  { type: 'image', source: base64('image/webp', 'UklGRg==') },
  { type: 'file', source: base64('application/pdf', 'JVBERi0xLjQK'), name: 'a.pdf' },
)

/** A user turn, the model's response, and the results of its tools. */
const exchange = (round: number): fc.Arbitrary<Turn[]> =>
  fc
    .record({
      requested: words,
      seen: fc.array(shown, { maxLength: 2 }),
      said: content(round),
      results: fc.array(words, { minLength: 3, maxLength: 3 }),
    })
    .map(({ requested, seen, said, results }): Turn[] => {
      const calls = said.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
      return [
        { role: 'user', content: [...seen, text(requested)] },
        { role: 'assistant', content: said },
        ...(calls.length > 0
          ? [
              {
                role: 'tool' as const,
                results: calls.map(({ id, name: called }, index) => ({
                  ...{ callId: id, name: called, content: [text(results[index] ?? '')] },
                })),
              },
              { role: 'assistant' as const, content: [text('So it is.')] },
            ]
          : []),
      ]
    })

const conversation = fc
  .record({ system: maybe(words), first: exchange(1), second: exchange(2), last: words })
  .map(({ system, first, second, last }): Turn[] => [
    ...(system === undefined
      ? []
      : [{ role: 'system' as const, sentAs: 'instructions' as const, content: [text(system)] }]),
    ...first,
    ...second,
    { role: 'user', content: [text(last)] },
  ])

const schema = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.constantFrom({ type: 'string' }, { type: 'integer' }), {
    maxKeys: 3,
  })
  .map((properties) => ({ type: 'object', properties: { ...properties }, additionalProperties: false }))

const tools: fc.Arbitrary<Tool[]> = fc
  .uniqueArray(name, { minLength: 1, maxLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((named) =>
        fc
          .record({ description: maybe(words), schema })
          .map((fields) => omitUndefined<Tool>({ type: 'function', name: named, ...fields })),
      ),
    ),
  )

const options: fc.Arbitrary<RequestOptions> = fc
  .record({
    maxOutputTokens: fc.integer({ min: 1_100, max: 9_000 }),
    sampling: fc.constantFrom({}, { temperature: 0 }, { temperature: 0.5 }, { topP: 0.1 }), // never both, because Anthropic rejects that
    topK: maybe(fc.nat(40)),
    stop: maybe(fc.array(words, { minLength: 1, maxLength: 4 })),
    seed: maybe(fc.nat(99)),
    frequencyPenalty: maybe(fc.constantFrom(-1, 0.5)),
    endUser: maybe(name),
    serviceTier: maybe(fc.constant('default' as const)),
    verbosity: maybe(fc.constantFrom('low' as const, 'high' as const)),
    parallelToolCalls: maybe(fc.constant(false)),
  })
  .map(({ sampling, ...fields }) => omitUndefined<RequestOptions>({ ...fields, ...sampling }))

/** Generates a conversation with tools, an output format, and options that not every format supports. */
export const request: fc.Arbitrary<CanonicalRequest> = fc
  .record({
    ...{ turns: conversation, tools, options, stream: fc.boolean() },
    choice: fc.constantFrom('auto', 'none', 'required', 'tool', undefined),
    form: maybe(schema),
  })
  .map(({ choice, form, stream, tools: known, turns, options: { parallelToolCalls, ...rest } }) =>
    omitUndefined<CanonicalRequest>({
      ...{ model: 'm', stream, streamUsage: stream, tools: known, turns },
      options: choice === 'none' || parallelToolCalls === undefined ? rest : { ...rest, parallelToolCalls },
      toolChoice: getChoice(choice, known),
      output: form && { type: 'json-schema', schema: form },
    }),
  )

function getChoice(type: 'auto' | 'none' | 'required' | 'tool' | undefined, [first]: Tool[]): ToolChoice | undefined {
  if (type !== 'tool') return type && { type }
  return first && 'name' in first ? { type, name: first.name } : undefined
}
