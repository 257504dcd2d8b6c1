import { kindForms } from '../carry.ts'
import { secondsOf } from '../sound/wav.ts'
import { clients } from './clients.ts'
import { secondsUsed } from './transcription.ts'
import { compatible } from './vendors/openai.ts'
import { transcriptionVendors } from './vendors.ts'

/** The forms of transcription. */
export const transcriptionForms = kindForms({
  clients,
  vendors: transcriptionVendors,
  otherwise: compatible,
  usageOf: ({ file }) => secondsUsed(secondsOf(file.bytes)),
})
