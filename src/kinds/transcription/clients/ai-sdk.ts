import { fieldsOf } from '../../../formats/canonical/fields.ts'
import type { Warnings } from '../../../formats/canonical/warnings.ts'
import { fromBase64 } from '../../../lib/bytes.ts'
import { extensionOf, type FormFile } from '../../../lib/multipart.ts'
import { dropUnread, factsOf, firstIn, optionsIn } from '../../ai-sdk.ts'
import type { ClientForm } from '../../forms.ts'
import { secondsOf } from '../../sound/length.ts'
import { soundType, temperatureIn } from '../clients.ts'
import { languageCode, segmentsOf } from '../segments.ts'
import { FORMATS, type Hearing, type Transcript, type TranscriptPiece } from '../transcription.ts'

/** The form of the AI SDK's gateway protocol. Its answers have times where the vendor tells them, unless the request wants them at any rate. */
export const aiSdk: ClientForm<Hearing, Transcript, TranscriptPiece> = {
  fieldNames: { file: 'audio', timestamp_granularities: 'timestampGranularities', response_format: 'providerOptions' },
  read(body, { warnings, header, files }) {
    const fields = fieldsOf(body, '', warnings)
    const given = optionsIn(fields)
    const granularities =
      fields.texts('timestampGranularities') ?? firstIn(given, (one) => one.texts('timestampGranularities')) ?? []
    const format = firstIn(given, (one) => one.wordOrDrop('responseFormat', FORMATS))
    const asked: Hearing = {
      file: fileOf(fields.text('audio') ?? '', { mediaType: fields.text('mediaType') ?? '', files, warnings }),
      task: 'transcribe',
      format: format === 'diarized_json' ? format : granularities.length > 0 ? 'verbose_json' : 'json',
      takesTimes: true,
      takesWords: header(VERSION) !== '3',
      language: firstIn(given, (one) => one.text('language') ?? one.text('languageCode')),
      prompt: firstIn(given, (one) => one.text('prompt')),
      keywords: firstIn(given, (one) => one.texts('keywords') ?? one.texts('keyterms')) ?? [],
      granularities,
      temperature: temperatureIn(
        firstIn(given, (one) => one.number('temperature')),
        warnings,
      ),
      isStream: false,
      isForm: false,
      others: [],
    }
    dropUnread(fields, given)
    return asked
  },
  write(given, terms) {
    const { text, usage, language, segments = [], words = [] } = given
    const { file, takesWords } = terms.asked
    const seconds = given.duration ?? usage?.units?.second ?? secondsOf(file.bytes)
    const hasTimes = segments.length > 0 || words.length > 0
    return {
      text,
      segments: hasTimes ? segmentsOf(given, seconds).map((one) => timed(one.text, one)) : [],
      ...(takesWords && words.length > 0 && { words: words.map((one) => timed(one.word, one)) }),
      ...(language !== undefined && { language: languageCode(language) }),
      ...(seconds !== undefined && { durationInSeconds: seconds }),
      ...factsOf(terms, usage),
    }
  },
}

const VERSION = 'ai-transcription-model-specification-version'

const timed = (text: string, { start, end }: { start: number; end: number }) => ({
  text: text.trim(),
  startSecond: start,
  endSecond: end,
})

/** The sound of a request: the file that its body was read into, else its base64. */
function fileOf(
  audio: string,
  { mediaType, files: [file], warnings }: { mediaType: string; files: readonly FormFile[]; warnings: Warnings },
): Hearing['file'] {
  if (audio === '' && !file) return warnings.refuse('file', 'is required: sound in base64.')
  const fileName = `audio.${/^(?:audio|video)\/./.test(mediaType) ? extensionOf(mediaType) : 'mp3'}`
  try {
    return { bytes: file?.bytes ?? fromBase64(audio), type: soundType(mediaType, fileName), fileName }
  } catch {
    return warnings.refuse('file', 'must be sound in base64.')
  }
}
