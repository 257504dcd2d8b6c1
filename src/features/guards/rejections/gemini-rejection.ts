import { isObject, type JsonObject } from '../../../lib/json.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RejectionFormat } from './rejection-formats.ts'

/** Rejections in Google's Gemini format. A stream for a client that expects a JSON array is converted later. */
export const geminiRejection: RejectionFormat = {
  writeResponse: (response, { message }) => ({
    ...pickFields(response, ['usageMetadata', 'modelVersion', 'responseId', 'createTime']),
    candidates: [toCandidate(0, message)],
  }),
  createEnding() {
    let commonFields: JsonObject = {}
    const openCandidates = new Set<number>([0])
    return {
      observe(event) {
        commonFields = { ...commonFields, ...pickFields(event, ['usageMetadata', 'modelVersion', 'responseId']) }
        const candidates = Array.isArray(event.candidates) ? event.candidates.filter(isObject) : []
        for (const { index = 0, finishReason } of candidates) {
          if (finishReason) openCandidates.delete(Number(index))
          else openCandidates.add(Number(index))
        }
      },
      end({ message }, { inputTokens, outputTokens }) {
        const usageMetadata = {
          promptTokenCount: inputTokens,
          candidatesTokenCount: outputTokens,
          totalTokenCount: inputTokens + outputTokens,
        }
        const candidates = [...openCandidates].map((index) => toCandidate(index, message))
        return formatSseEvent({
          event: undefined,
          data: JSON.stringify({ usageMetadata, ...commonFields, candidates }),
        })
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
