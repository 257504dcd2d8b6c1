import type { KindSample } from '../samples.ts'

/** One text and its vector. */
export const embedding: KindSample = {
  bodies: {
    openai: { input: 'Hi' },
    cohere: { texts: ['Hi'], input_type: 'search_document' },
    gemini: { content: { parts: [{ text: 'Hi' }] } },
    'ai-sdk': { values: ['Hi'] },
    'gemini-batch': { requests: [{ model: 'models/m', content: { parts: [{ text: 'Hi' }] } }] },
  },
  path: '/embeddings',
  response: {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 1] }],
    model: 'm',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
}
