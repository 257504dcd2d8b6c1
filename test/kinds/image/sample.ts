import type { KindSample } from '../samples.ts'
import { dataUrl, png } from './images.ts'

/** A request for one image. */
export const image: KindSample = {
  bodies: {
    generate: { prompt: 'a walk' },
    edit: { prompt: 'a walk', image: dataUrl(png) },
    'ai-sdk': { prompt: 'a walk', n: 1 },
  },
  path: '/images/',
  response: { created: 1, data: [{ b64_json: png }], usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 } },
}
