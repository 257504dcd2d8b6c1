import type { JsonObject } from '../../../../src/lib/json.ts'
import { recordedExchanges } from '../../support/recordings.ts'

/** A call: its ID, tool, and unparsed arguments. */
type Called = [id: string, tool: string, args: unknown]

/** Returns the Converse recordings, streamed or not. */
export const listRecorded = () => recordedExchanges(['bedrock-converse'])

/** Reads a non-streaming response's content from its blocks. */
export function simplify(message: JsonObject) {
  const blocks = Array.isArray(message.content) ? message.content : []
  const contents = { text: '', thoughts: '', calls: [] as Called[] }
  for (const { text, reasoningContent, citationsContent, toolUse } of blocks) {
    contents.text += text ?? citationsContent?.content?.map((piece: { text: string }) => piece.text).join('') ?? ''
    contents.thoughts += reasoningContent?.reasoningText?.text ?? ''
    if (toolUse && toolUse.type !== 'server_tool_use')
      contents.calls.push([toolUse.toolUseId, toolUse.name, toolUse.input])
  }
  return contents
}

/** All fields that stream events can have. */
interface Payload {
  contentBlockIndex: number
  delta?: { text?: string; reasoningContent?: { text?: string }; toolUse?: { input: string } }
  start?: { toolUse?: { toolUseId: string; name: string; type?: string } }
  stopReason?: string
  usage?: JsonObject
}

/** Returns the frames' payloads. Splits the frames without using the parser under test. */
export function getPayloads(bytes: Uint8Array): { type: string; payload: Payload }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const found: { type: string; payload: Payload }[] = []
  const text = new TextDecoder()
  for (
    let index = 0;
    index + 4 <= bytes.length && index + view.getUint32(index) <= bytes.length;
    index += view.getUint32(index)
  ) {
    const start = index + 12 + view.getUint32(index + 4)
    const headers = text.decode(bytes.subarray(index + 12, start))
    const payload = JSON.parse(text.decode(bytes.subarray(start, index + view.getUint32(index) - 4)))
    found.push({ type: /:event-type\W+(\w+?)\W/.exec(headers)?.[1] ?? '', payload })
  }
  return found
}

/** Merges the content of a stream's frames. */
export function merge(frames: ReturnType<typeof getPayloads>) {
  const contents = {
    text: '',
    thoughts: '',
    calls: [] as Called[],
    stop: undefined as unknown,
    usage: undefined as unknown,
  }
  const inputs = new Map<number, string>()
  const calls = new Map<number, [string, string]>()
  for (const { payload } of frames) {
    const { contentBlockIndex: index, delta, start, stopReason, usage } = payload
    contents.text += delta?.text ?? ''
    contents.thoughts += delta?.reasoningContent?.text ?? ''
    if (start?.toolUse && start.toolUse.type !== 'server_tool_use')
      calls.set(index, [start.toolUse.toolUseId, start.toolUse.name])
    if (delta?.toolUse) inputs.set(index, (inputs.get(index) ?? '') + delta.toolUse.input)
    contents.stop ??= stopReason
    contents.usage ??= usage
  }
  for (const [index, call] of calls) contents.calls.push([...call, inputs.get(index) ?? ''])
  return contents
}
