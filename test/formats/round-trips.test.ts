import fc from 'fast-check'
import type { Answer } from '../../src/formats/canonical/answer.ts'
import type { AssistantPart } from '../../src/formats/canonical/parts.ts'
import { prepareRequest } from '../../src/formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest, RequestOptions } from '../../src/formats/canonical/request.ts'
import { createSequence } from '../../src/formats/canonical/sequence.ts'
import type { StreamEvent } from '../../src/formats/canonical/stream.ts'
import type { Turn } from '../../src/formats/canonical/turns.ts'
import type { Translator } from '../../src/formats/translator.ts'
import { createSseParser } from '../../src/lib/sse.ts'
import type { OptionName } from '../../src/traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { answer, request } from './support/arbitraries.ts'
import { contexts } from './support/contexts.ts'
import { translatorOf } from './support/matrix.ts'

const translators = Object.fromEntries(
  await Promise.all(wireFormats.map(async (name) => [name, await translatorOf(name)] as const)),
) as Record<WireFormat, Translator> // for each of them

const runs = { numRuns: 12 }
const overWire = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** What was said, without what a format has its own way for: state, and whether a thought is a summary. */
const saidIn = (content: readonly AssistantPart[]) =>
  content.map((part) => {
    if (part.type === 'tool-call') return { name: part.name, id: part.id, arguments: JSON.parse(part.arguments) }
    return 'text' in part ? { [part.type]: part.text } : { [part.type]: 'source' in part && part.source }
  })

const meaningOf = ({ choices, usage }: Answer) => ({
  said: choices.map(({ content, finish }) => ({ content: saidIn(content), reason: finish.reason })),
  usage: usage && defined(usage),
})

const defined = ({
  inputTokens,
  outputTokens,
  cacheReadTokens = 0,
  reasoningTokens = 0,
}: NonNullable<Answer['usage']>) => ({
  ...{ inputTokens, outputTokens, cacheReadTokens, reasoningTokens },
})

const answers = suite('answers there and back')

for (const format of wireFormats) {
  const translator = translators[format]

  answers(`${format}, whole`, () => {
    fc.assert(
      fc.property(answer, (given) => {
        assert.equal(meaningOf(again(translator, given)), meaningOf(given))
      }),
      runs,
    )
  })

  answers(`${format}, streamed in pieces`, () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 5 }), (given, size) => {
        assert.equal(meaningOf(streamedAgain(translator, given, size)), meaningOf(given))
      }),
      runs,
    )
  })
}

for (const from of wireFormats) {
  for (const through of wireFormats.filter((format) => format !== from)) {
    answers(`${from} by way of ${through}`, () => {
      fc.assert(
        fc.property(answer, (given) => {
          const there = again(translators[through], again(translators[from], given))
          assert.equal(meaningOf(again(translators[from], there)), meaningOf(given))
        }),
        runs,
      )
    })
  }
}

/** An answer as a client of the format gets it, read as if it came from a provider of the format. */
function again(translator: Translator, given: Answer): Answer {
  const { read, write } = contexts(translator)
  return translator.parseAnswer(overWire(translator.writeAnswer(given, write())), read)
}

function streamedAgain(translator: Translator, given: Answer, size: number): Answer {
  const { read, write } = contexts(translator)
  const heard: StreamEvent[] = []
  const sequence = createSequence((event) => heard.push(event))
  const reader = translator.createReader(read, sequence.take)
  const parser = createSseParser(reader.observe)
  const writer = translator.createWriter(write({ client: { alt: 'sse' } }), parser.push)
  for (const event of eventsOf(given, size)) writer.push(event)
  parser.end()
  reader.end()
  sequence.end()
  return joined(heard)
}

function* eventsOf({ choices, usage }: Answer, size: number): Generator<StreamEvent> {
  yield { type: 'start' }
  for (const { content, finish } of choices) {
    for (const [key, part] of content.entries()) {
      const text = part.type === 'tool-call' ? part.arguments : 'text' in part ? part.text : ''
      yield { type: 'part-start', key, candidate: 0, part: emptied(part) }
      for (let at = 0; at < text.length; at += size) yield { type: 'part-delta', key, text: text.slice(at, at + size) }
      yield { type: 'part-end', key }
    }
    yield { type: 'end', finishes: [finish], ...(usage && { usage }) }
  }
}

const emptied = (part: AssistantPart): AssistantPart =>
  part.type === 'tool-call' ? { ...part, arguments: '' } : 'text' in part ? { ...part, text: '' } : part

function joined(events: readonly StreamEvent[]): Answer {
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

const requests = suite('requests there and back')

for (const from of wireFormats) {
  for (const through of wireFormats.filter((format) => format !== from)) {
    requests(`${from} by way of ${through} keeps what that can carry`, () => {
      fc.assert(
        fc.property(request, (given) => {
          const asked = sent(given, from)
          const back = sent(sent(asked, through), from)
          assert.equal(wishesOf(back, from, through), wishesOf(asked, from, through))
        }),
        runs,
      )
    })
  }
}

/** A request as a provider of the format gets it, read as if a client of the format had sent it. */
function sent(asked: CanonicalRequest, format: WireFormat): CanonicalRequest {
  const translator = translators[format]
  const { target, warnings } = contexts(translator, { format })
  const { request: prepared } = prepareRequest(asked, { ...target, carries: translator.carries })
  const { body } = translator.writeRequest(prepared, target)
  return translator.parseRequest(overWire(body), { warnings, route: { model: 'm', stream: asked.stream } })
}

function wishesOf(
  { turns, tools, toolChoice, output, options }: CanonicalRequest,
  from: WireFormat,
  through: WireFormat,
) {
  return overWire({
    turns: turns.map(saidInTurn),
    tools: tools.map((tool) => ('schema' in tool ? [tool.name, tool.description, tool.schema] : tool)),
    toolChoice: toolChoice ?? { type: 'auto' },
    schema: output?.type === 'json-schema' ? { ...output.schema, title: undefined } : undefined, // its name, in some
    options: carried(options, [translators[from], translators[through]]),
  })
}

const saidInTurn = (turn: Turn) =>
  turn.role === 'tool'
    ? turn.results.map(({ callId, content }) => [callId, saidIn(content as AssistantPart[])]) // they are texts
    : { [turn.role]: saidIn(turn.content as AssistantPart[]) } // these too

/** The options that all of them have a place for. */
function carried(options: RequestOptions, formats: readonly Translator[]): Record<string, unknown> {
  const has = (name: string) =>
    formats.every(
      ({ carries, traits }) => carries.has(name as OptionName) && !traits.lacks.includes(name as OptionName), // whether it is one is the question
    )
  return Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => has(name))
      .sort(),
  )
}
