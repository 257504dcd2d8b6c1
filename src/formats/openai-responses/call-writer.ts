import { createTextBuffer } from '../../lib/text-buffer.ts'
import type { ToolCallPart } from '../canonical/parts.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { ownToolOf, setStatus, wireCall, wireOwnCall } from './output-write.ts'
import type { WireCall, WireClientCall } from './wire.ts'

/** Writes a tool call; one without arguments gets `{}`. A call of a tool that the client knows as an item of its own is written when it is whole. */
export function createCallWriter(part: ToolCallPart, place: ItemPlace): ItemWriter {
  return ownToolOf(place.context, part.name) ? createOwnWriter(part, place) : createArgumentsWriter(part, place)
}

function createOwnWriter(part: ToolCallPart, place: ItemPlace): ItemWriter {
  const { context, events, index } = place
  const pieces: string[] = []
  let own: WireClientCall | undefined
  let other: ItemWriter | undefined // for arguments that are not those of the tool

  function write() {
    if (own || other) return
    const input = pieces.join('')
    own = wireOwnCall(part, input, context)
    if (own)
      return events.tell('response.output_item.added', { output_index: index, item: { ...own, status: 'in_progress' } })
    other = createArgumentsWriter(part, place)
    if (input !== '') other.add(input, undefined)
    other.end()
  }

  return {
    ...noRoom,
    add: (more) => void pieces.push(more),
    end: write,
    whole(status) {
      write()
      if (own) setStatus(own, status)
      return own ?? other?.whole(status)
    },
  }
}

function createArgumentsWriter(part: ToolCallPart, { context, events, index }: ItemPlace): ItemWriter {
  const call = wireCall(part, '', context)
  const where = whereabouts(call.id, index)
  const isFunction = call.type === 'function_call'
  const [type, field] = isFunction ? ['function_call_arguments', 'arguments'] : ['custom_tool_call_input', 'input']
  const said = createTextBuffer()

  const filled = (input: string): WireCall =>
    call.type === 'function_call' ? { ...call, arguments: input } : { ...call, input }

  const begun = filled('')
  setStatus(begun, 'in_progress')
  events.tell('response.output_item.added', { output_index: index, item: begun })

  function add(more: string) {
    said.add(more)
    events.tellJson(`response.${type}.delta`, `${where},"delta":${JSON.stringify(more)}`)
  }

  return {
    ...noRoom,
    add,
    end() {
      if (isFunction && !said.isBegun) add('{}')
      events.tellJson(`response.${type}.done`, `${where},"${field}":${JSON.stringify(said.text)}`)
    },
    whole(status) {
      const item = filled(said.text ?? '')
      setStatus(item, status)
      return item
    },
  }
}
