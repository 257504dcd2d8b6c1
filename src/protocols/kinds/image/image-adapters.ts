import { createKindAdapters } from '../create-kind-adapters.ts'
import { aiSdk } from './clients/ai-sdk-image-client.ts'
import { createGeminiImageClient } from './clients/gemini-image-client.ts'
import { imageSplitter } from './image.ts'
import { clients } from './image-clients.ts'
import { downloadImages } from './image-downloads.ts'
import { addPriceNames } from './image-prices.ts'
import { bfl } from './vendors/bfl-image.ts'
import { fireworks } from './vendors/fireworks-image.ts'
import { google } from './vendors/google-image.ts'
import { openai, openaiCompatible } from './vendors/openai-image.ts'
import { openrouter } from './vendors/openrouter-image.ts'
import { together } from './vendors/together-image.ts'
import { xai } from './vendors/xai-image.ts'

/** The adapters for images. */
export const imageAdapters = createKindAdapters({
  clients: {
    ...clients,
    'ai-sdk': aiSdk,
    gemini: createGeminiImageClient(false),
    'gemini-stream': createGeminiImageClient(true),
  },
  vendors: [bfl, fireworks, google, openai, openrouter, together, xai],
  fallback: openaiCompatible,
  splitter: imageSplitter,
  getImageUrls: ({ inputImages, mask, markup }) =>
    [...inputImages, mask, markup].flatMap((image) => (image?.url === undefined ? [] : [image.url])),
  completeResponse: downloadImages,
  addPriceFacts: addPriceNames,
})
