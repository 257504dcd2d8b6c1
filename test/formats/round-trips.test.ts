import fc from 'fast-check'
import { createSseParser } from '../../src/lib/sse.ts'
import type { AssistantPart } from '../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../src/protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../src/protocols/formats/canonical/canonical-response.ts'
import { createEventSequencer } from '../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../src/protocols/formats/canonical/canonical-stream.ts'
import type { Turn } from '../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import type { Translator } from '../../src/protocols/formats/translator.ts'
import type { OptionName } from '../../src/traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { request, response } from './support/arbitraries.ts'
import { contexts } from './support/contexts.ts'
import { getTranslator } from './support/matrix.ts'

const translators = Object.fromEntries(
  await Promise.all(wireFormats.map(async (name) => [name, await getTranslator(name)] as const)),
) as Record<WireFormat, Translator> // one entry per format

const runs = { numRuns: 12 }
const overWire = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** Returns the content without format-specific parts: state, and whether reasoning is a summary. */
const getContent = (content: readonly AssistantPart[]) =>
  content.map((part) => {
    if (part.type === 'tool-call') return { name: part.name, id: part.id, arguments: JSON.parse(part.arguments) }
    return 'text' in part ? { [part.type]: part.text } : { [part.type]: 'source' in part && part.source }
  })

const getMeaning = ({ choices, usage }: CanonicalResponse) => ({
  said: choices.map(({ content, finish }) => ({ content: getContent(content), reason: finish.reason })),
  usage: usage && defined(usage),
})

const defined = ({
  inputTokens,
  outputTokens,
  cacheReadTokens = 0,
  reasoningTokens = 0,
}: NonNullable<CanonicalResponse['usage']>) => ({
  ...{ inputTokens, outputTokens, cacheReadTokens, reasoningTokens },
})

const answers = suite('response round trips')

for (const format of wireFormats) {
  const translator = translators[format]

  answers(`a response keeps its meaning: ${format}, not streamed`, () => {
    fc.assert(
      fc.property(response, (input) => {
        assert.equal(getMeaning(roundTrip(translator, input)), getMeaning(input))
      }),
      runs,
    )
  })

  answers(`a response keeps its meaning: ${format}, streamed in fragments`, () => {
    fc.assert(
      fc.property(response, fc.integer({ min: 1, max: 5 }), (input, size) => {
        assert.equal(getMeaning(streamedAgain(translator, input, size)), getMeaning(input))
      }),
      runs,
    )
  })
}

for (const from of wireFormats) {
  for (const through of wireFormats.filter((format) => format !== from)) {
    answers(`a response keeps its meaning: ${from} through ${through}`, () => {
      fc.assert(
        fc.property(response, (input) => {
          const there = roundTrip(translators[through], roundTrip(translators[from], input))
          assert.equal(getMeaning(roundTrip(translators[from], there)), getMeaning(input))
        }),
        runs,
      )
    })
  }
}

/** Writes a response for a client of the format, and parses it like a provider's response. */
function roundTrip(translator: Translator, input: CanonicalResponse): CanonicalResponse {
  const { read, write } = contexts(translator)
  return translator.parseResponse(overWire(translator.writeResponse(input, write())), read)
}

function streamedAgain(translator: Translator, input: CanonicalResponse, size: number): CanonicalResponse {
  const { read, write } = contexts(translator)
  const result: StreamEvent[] = []
  const sequence = createEventSequencer((event) => result.push(event))
  const reader = translator.createReader(read, sequence.push)
  const parser = createSseParser(reader.observe)
  const writer = translator.createWriter(write({ client: { alt: 'sse' } }), parser.push)
  for (const event of getEvents(input, size)) writer.push(event)
  parser.end()
  reader.end()
  sequence.end()
  return joinEvents(result)
}

function* getEvents({ choices, usage }: CanonicalResponse, size: number): Generator<StreamEvent> {
  yield { type: 'start' }
  for (const { content, finish } of choices) {
    for (const [key, part] of content.entries()) {
      const text = part.type === 'tool-call' ? part.arguments : 'text' in part ? part.text : ''
      yield { type: 'part-start', key, candidate: 0, part: clearState(part) }
      for (let index = 0; index < text.length; index += size)
        yield { type: 'part-delta', key, text: text.slice(index, index + size) }
      yield { type: 'part-end', key }
    }
    yield { type: 'end', finishes: [finish], ...(usage && { usage }) }
  }
}

const clearState = (part: AssistantPart): AssistantPart =>
  part.type === 'tool-call' ? { ...part, arguments: '' } : 'text' in part ? { ...part, text: '' } : part

function joinEvents(events: readonly StreamEvent[]): CanonicalResponse {
  const content: AssistantPart[] = []
  for (const event of events) {
    if (event.type === 'part-start') content[event.key] = { ...event.part }
    if (event.type === 'part-delta') {
      const part = content[event.key]
      if (part?.type === 'tool-call') part.arguments += event.text
      else if (part && 'text' in part) part.text += event.text
    }
    if (event.type === 'error') throw new Error(event.error.message)
  }
  const end = events.at(-1)
  if (end?.type !== 'end') throw new Error('it has no end')
  const [finish = { reason: 'stop' }] = end.finishes
  return { choices: [{ content, finish }], ...(end.usage && { usage: end.usage }) }
}

const requests = suite('request round trips')

for (const from of wireFormats) {
  for (const through of wireFormats.filter((format) => format !== from)) {
    requests(
      `translating a request from ${from} to ${through} and back keeps everything that ${through} supports`,
      () => {
        fc.assert(
          fc.property(request, (value) => {
            const input = prepareSent(value, from)
            const back = prepareSent(prepareSent(input, through), from)
            assert.equal(getOptions(back, from, through), getOptions(input, from, through))
          }),
          runs,
        )
      },
    )
  }
}

/** Writes a request for a provider of the format, and parses it like a client's request. */
function prepareSent(input: CanonicalRequest, format: WireFormat): CanonicalRequest {
  const translator = translators[format]
  const { target, warnings } = contexts(translator, { format })
  const { request: prepared } = prepareRequest(input, { ...target, supportedOptions: translator.supportedOptions })
  const { body } = translator.writeRequest(prepared, target)
  return translator.parseRequest(overWire(body), { warnings, route: { model: 'm', stream: input.stream } })
}

function getOptions(
  { turns, tools, toolChoice, output, options }: CanonicalRequest,
  from: WireFormat,
  through: WireFormat,
) {
  return overWire({
    turns: turns.map(saidInTurn),
    tools: tools.map((tool) => ('schema' in tool ? [tool.name, tool.description, tool.schema] : tool)),
    toolChoice: toolChoice ?? { type: 'auto' },
    schema: output?.type === 'json-schema' ? { ...output.schema, title: undefined } : undefined, // some formats put the name there
    options: keepSupported(options, [translators[from], translators[through]]),
  })
}

const saidInTurn = (turn: Turn) =>
  turn.role === 'tool'
    ? turn.results.map(({ callId, content }) => [callId, getContent(content as AssistantPart[])]) // results only contain text
    : { [turn.role]: getContent(turn.content as AssistantPart[]) } // so do these turns

/** Returns the options that all formats support. */
function keepSupported(options: RequestOptions, formats: readonly Translator[]): Record<string, unknown> {
  const has = (name: string) =>
    formats.every(
      ({ supportedOptions, traits }) =>
        supportedOptions.has(name as OptionName) && !traits.lacks.includes(name as OptionName), // the set contains only option names
    )
  return Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => has(name))
      .sort(),
  )
}
