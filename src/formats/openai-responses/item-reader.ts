import type { JsonObject } from '../../lib/json.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext } from '../translator.ts'
import { createCallReader } from './call-reader.ts'
import { createMessageReader } from './message-reader.ts'
import type { createOutputParser } from './output-parse.ts'
import { createThoughtReader } from './thought-reader.ts'

/** Reads one item of a stream. */
export interface ItemReader {
  /** The item as it begins: who it is. */
  begin(item: JsonObject): void
  observe(type: string, event: JsonObject): void
  /** The whole item: tells what has not been told. May come more than once. */
  complete(item: JsonObject): void
  /** Is what an event is about already at its end? Only for items of several parts. */
  isPast?(event: JsonObject): boolean
  end(): void
}

export interface ItemContext extends ReadContext {
  parser: ReturnType<typeof createOutputParser>
  start(part: AssistantPart): number
}

export function createItemReader(kind: unknown, context: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  switch (kind) {
    case 'message':
      return createMessageReader(context, emit)
    case 'reasoning':
      return createThoughtReader(context, emit)
    case 'function_call':
    case 'custom_tool_call':
      return createCallReader(context, emit)
    default:
      return createWholeReader(context, emit)
  }
}

/** The kind of item that an event is about. */
export const kindOf = (type: string, item: JsonObject | undefined): unknown => (item ? item.type : kindOfEvent(type))

function kindOfEvent(type: string): string | undefined {
  if (/^response\.(?:output_text|refusal|content_part)\./.test(type)) return 'message'
  if (/^response\.reasoning/.test(type)) return 'reasoning'
  if (type.startsWith('response.function_call_arguments.')) return 'function_call'
  if (type.startsWith('response.custom_tool_call_input.')) return 'custom_tool_call'
  return undefined
}

/** An item that means something only when it is complete. */
function createWholeReader({ parser, start }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let isTold = false

  function emitWhole(part: AssistantPart) {
    const isCall = part.type === 'tool-call' // whose arguments are never in its start
    const key = start(isCall ? { ...part, arguments: '' } : part)
    if (isCall && part.arguments !== '') emit({ type: 'part-delta', key, text: part.arguments })
    emit({ type: 'part-end', key })
  }

  return {
    begin() {},
    observe() {},
    complete(item) {
      if (isTold) return
      isTold = true
      for (const part of parser.parse(item)) emitWhole(part)
    },
    end() {},
  }
}
