import { isObject, type JsonObject } from '../../../lib/json.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RejectionFormat } from './rejection-formats.ts'

/** Rejections in Google's Gemini format. A stream for a client that expects a JSON array is converted later. */
export const geminiRejection: RejectionFormat = {
  writeWhole: (response, { message }) => ({
    ...pickFields(response, ['usageMetadata', 'modelVersion', 'responseId', 'createTime']),
    candidates: [toCandidate(0, message)],
  }),
  createEnding() {
    let head: JsonObject = {}
    const open = new Set<number>([0])
    return {
      observe(event) {
        head = { ...head, ...pickFields(event, ['usageMetadata', 'modelVersion', 'responseId']) }
        const candidates = Array.isArray(event.candidates) ? event.candidates.filter(isObject) : []
        for (const { index = 0, finishReason } of candidates) {
          if (finishReason) open.delete(Number(index))
          else open.add(Number(index))
        }
      },
      end({ message }, { inputTokens, outputTokens }) {
        const usageMetadata = {
          promptTokenCount: inputTokens,
          candidatesTokenCount: outputTokens,
          totalTokenCount: inputTokens + outputTokens,
        }
        const candidates = [...open].map((index) => toCandidate(index, message))
        return formatSseEvent({ event: undefined, data: JSON.stringify({ usageMetadata, ...head, candidates }) })
      },
    }
  },
}

const toCandidate = (index: number, message: string) => ({
  content: { role: 'model', parts: [{ text: '' }] },
  finishReason: 'SAFETY',
  finishMessage: message,
  index,
})
