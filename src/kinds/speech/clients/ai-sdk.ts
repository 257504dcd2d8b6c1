import { fieldsOf } from '../../../formats/canonical/fields.ts'
import { toBase64 } from '../../../lib/bytes.ts'
import { dropUnread, factsOf, firstIn, optionsIn } from '../../ai-sdk.ts'
import type { ClientForm } from '../../forms.ts'
import { isSpeed, SPEEDS } from '../clients.ts'
import type { SoundPiece, Speech, SpeechRequest } from '../speech.ts'

/** The form of the AI SDK's gateway protocol, whose answer is the whole sound in base64. */
export const aiSdk: ClientForm<SpeechRequest, Speech, SoundPiece> = {
  fieldNames: { input: 'text', response_format: 'outputFormat' },
  read(body, { warnings }) {
    const fields = fieldsOf(body, '', warnings)
    const given = optionsIn(fields)
    const input = fields.text('text') ?? ''
    if (input.trim() === '') return warnings.refuse('input', 'is required: the text to be spoken.')
    const speed = fields.number('speed') ?? firstIn(given, (one) => one.number('speed'))
    if (speed !== undefined && !isSpeed(speed)) return warnings.refuse('speed', SPEEDS)
    const asked: SpeechRequest = {
      input,
      voice: fields.text('voice'),
      format: fields.text('outputFormat') ?? 'mp3',
      isEvents: false,
      isWhole: true,
      instructions: fields.text('instructions') ?? firstIn(given, (one) => one.text('instructions')),
      speed,
      language: fields.text('language') ?? firstIn(given, (one) => one.text('languageCode')),
      others: [],
    }
    dropUnread(fields, given)
    return asked
  },
  write: ({ audio, usage }, terms) => ({ audio: toBase64(audio), ...factsOf(terms, usage) }),
}
