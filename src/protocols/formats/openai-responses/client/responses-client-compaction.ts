import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { getRetentionBudget, retainLast } from '../../canonical/canonical-compaction.ts'
import type { CompactionPart } from '../../canonical/canonical-parts.ts'
import type { CanonicalResponse } from '../../canonical/canonical-response.ts'
import type { WriterContext } from '../../translator.ts'
import { writeUsage } from '../responses-fields.ts'
import { writeCompactionItem } from './responses-client-response.ts'
import {
  type ItemPosition,
  type ItemWriter,
  stringifyItem,
  stringifyItemFields,
  unsupportedMethods,
} from './responses-client-stream-items.ts'

/** Writes the response to a compaction request: the client's last messages, and the compaction. */
export function writeCompaction(
  { choices, usage }: CanonicalResponse,
  context: WriterContext,
  { input }: JsonObject,
): JsonObject {
  const items: unknown[] = typeof input === 'string' ? [{ role: 'user', content: input }] : []
  const messages = (Array.isArray(input) ? input : items).filter(isObject).filter(isClientMessage)
  const lastMessages = retainLast(messages, getRetentionBudget('now'), ({ role }) => role === 'user')
  const content = choices[0]?.content ?? []
  const compactions = content.flatMap((part) => (part.type === 'compaction' ? [part] : []))
  return {
    id: `resp_${context.newId()}`,
    object: 'response.compaction',
    created_at: context.nowSeconds,
    output: [
      ...lastMessages.map((message) => completeMessage(message, context)),
      ...compactions.map(({ text }) => writeCompactionItem(`cmp_${context.newId()}`, text)),
    ],
    usage: writeUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
  }
}

const isClientMessage = ({ type = 'message', role }: JsonObject) =>
  type === 'message' && (role === 'user' || role === 'system' || role === 'developer')

function completeMessage({ id, role, content }: JsonObject, { newId }: WriterContext): JsonObject {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  return { type: 'message', id: id ?? `msg_${newId()}`, status: 'completed', role, content: parts }
}

/** Creates a writer for a compaction in a stream. It sends an event for each piece of text, but not the text itself. */
export function createCompactionWriter(part: CompactionPart, { context, events, index }: ItemPosition): ItemWriter {
  const id = `cmp_${context.newId()}`
  const fields = stringifyItemFields(id, index)
  const texts = [part.text]
  events.write('response.output_item.added', {
    output_index: index,
    item: { type: 'compaction', id, encrypted_content: '' },
  })
  return {
    ...unsupportedMethods,
    addDelta(piece) {
      texts.push(piece)
      events.writeJson('response.compaction.compacting', fields)
    },
    end() {},
    getItem: (status) => (status === 'incomplete' ? undefined : stringifyItem(writeCompactionItem(id, texts.join('')))),
  }
}
