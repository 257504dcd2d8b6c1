import type { JsonObject } from '../../../lib/json.ts'
import type { RequestBound } from '../../formats/format.ts'

/** Returns the length of the text, which is `input` in OpenAI's API and `text` in the AI SDK's. */
const getLength = ({ input, text }: JsonObject) =>
  Math.max(...[input, text].map((value) => (typeof value === 'string' ? value.length : 0)))

/** Models charge per character or per token. */
export const speechBound: RequestBound = {
  isBilledOnce: true,
  inputTokens: (_, estimate) => estimate(),
  // Models that charge per token use about 30 tokens per second of audio, and a second covers at least 10 characters.
  outputTokens: (body) => 5 * getLength(body) + 100,
  units: (body) => ({ character: getLength(body) }),
}
