import { kindForms } from '../carry.ts'
import { aiSdk } from './clients/ai-sdk.ts'
import { gemini } from './clients/gemini.ts'
import { clients } from './clients.ts'
import { fillIn } from './downloads.ts'
import { imageDivision } from './image.ts'
import { withPriceNames } from './prices.ts'
import { bfl } from './vendors/bfl.ts'
import { fireworks } from './vendors/fireworks.ts'
import { google } from './vendors/google.ts'
import { compatible, openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'
import { together } from './vendors/together.ts'
import { xai } from './vendors/xai.ts'

/** The forms of images. */
export const imageForms = kindForms({
  clients: { ...clients, 'ai-sdk': aiSdk, gemini: gemini(false), 'gemini-stream': gemini(true) },
  vendors: [bfl, fireworks, google, openai, openrouter, together, xai],
  otherwise: compatible,
  division: imageDivision,
  addresses: ({ pictures, mask, markup }) =>
    [...pictures, mask, markup].flatMap((picture) => (picture?.url === undefined ? [] : [picture.url])),
  complete: fillIn,
  priced: withPriceNames,
})
