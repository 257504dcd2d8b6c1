import type { ToolCallPart } from '../canonical/parts.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { setStatus, wireCall } from './output-write.ts'
import type { WireCall } from './wire.ts'

/** Writes a tool call; one without arguments gets `{}`. */
export function createCallWriter(part: ToolCallPart, { context, events, index }: ItemPlace): ItemWriter {
  const call = wireCall(part, '', context)
  const where = whereabouts(call.id, index)
  const isFunction = call.type === 'function_call'
  const [type, field] = isFunction ? ['function_call_arguments', 'arguments'] : ['custom_tool_call_input', 'input']
  const pieces: string[] = []

  const filled = (input: string): WireCall =>
    call.type === 'function_call' ? { ...call, arguments: input } : { ...call, input }

  const begun = filled('')
  setStatus(begun, 'in_progress')
  events.tell('response.output_item.added', { output_index: index, item: begun })

  function add(more: string) {
    pieces.push(more)
    events.tellJson(`response.${type}.delta`, `${where},"delta":${JSON.stringify(more)}`)
  }

  return {
    ...noRoom,
    add,
    end() {
      if (isFunction && pieces.length === 0) add('{}')
      events.tellJson(`response.${type}.done`, `${where},"${field}":${JSON.stringify(pieces.join(''))}`)
    },
    whole(status) {
      const item = filled(pieces.join(''))
      setStatus(item, status)
      return item
    },
  }
}
