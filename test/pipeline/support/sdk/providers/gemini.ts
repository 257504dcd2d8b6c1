import { FinishReason, type Part } from '@google/genai'
import { ANSWER, CITIES, SIGNATURE, THOUGHT, weather } from '../conversation.ts'
import { data, type ModelOutput, type Provider } from './provider.ts'

const usage = (prompt: number, candidates: number, thoughts = 0) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  totalTokenCount: prompt + candidates + thoughts,
})

/** Builds a response as Google sends it: calls have no ID, and the finish reason is `STOP` even for calls. */
const respond = (parts: Part[], counts: object, finishReason?: FinishReason) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: counts,
  modelVersion: 'm',
  responseId: 'r1',
})

function output(parts: Part[], counts: object): ModelOutput {
  const last = parts.length - 1
  return {
    whole: respond(parts, counts, FinishReason.STOP),
    events: parts.map((part, index) => data(respond([part], counts, index === last ? FinishReason.STOP : undefined))),
  }
}

/** A generateContent provider. The first call carries the reasoning signature, as in Gemini 3. */
export const geminiProvider: Provider = {
  calls: output(
    [
      { text: THOUGHT, thought: true },
      ...CITIES.map(
        (city, index): Part => ({
          functionCall: { name: weather.name, args: { city } },
          ...(index === 0 && { thoughtSignature: SIGNATURE }),
        }),
      ),
    ],
    usage(20, 20, 10),
  ),
  response: output(
    ANSWER.map((text) => ({ text })),
    usage(50, 12),
  ),
}
