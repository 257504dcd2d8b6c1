import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import type { KindSample } from '../samples.ts'

/** A short text, and bytes that stand in for its audio. */
export const speech: KindSample = {
  bodies: { openai: { input: 'Hi', voice: 'alloy' }, 'ai-sdk': { text: 'Hi', voice: 'alloy' } },
  path: '/audio/speech',
  response: new Response(encodeUtf8('sound'), { headers: { 'content-type': 'audio/mpeg' } }),
}
