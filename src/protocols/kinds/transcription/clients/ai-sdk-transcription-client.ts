import { fromBase64 } from '../../../../lib/bytes.ts'
import type { FormFile } from '../../../../lib/multipart.ts'
import { readFields } from '../../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import { dropUnread, findFirstOption, readProviderOptions, writeResponseFields } from '../../ai-sdk-kinds.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import { getDuration } from '../../sound/audio-duration.ts'
import { normalizeRecording } from '../../sound/file-type.ts'
import { FORMATS, type Transcript, type TranscriptChunk, type TranscriptionRequest } from '../transcription.ts'
import { readTemperature } from '../transcription-clients.ts'
import { getLanguageCode, getSegments } from '../transcription-segments.ts'

/** The AI SDK's gateway protocol. Responses include times if the vendor reports them. */
export const aiSdk: ClientAdapter<TranscriptionRequest, Transcript, TranscriptChunk> = {
  fieldNames: { file: 'audio', timestamp_granularities: 'timestampGranularities', response_format: 'providerOptions' },
  read(body, { warnings, header, files }) {
    const fields = readFields(body, '', warnings)
    const options = readProviderOptions(fields)
    const granularities =
      fields.strings('timestampGranularities') ??
      findFirstOption(options, (option) => option.strings('timestampGranularities')) ??
      []
    const format = findFirstOption(options, (option) => option.oneOfOrDrop('responseFormat', FORMATS))
    const request: TranscriptionRequest = {
      file: readFile(fields.string('audio') ?? '', { mediaType: fields.string('mediaType') ?? '', files, warnings }),
      task: 'transcribe',
      format: format === 'diarized_json' ? format : granularities.length > 0 ? 'verbose_json' : 'json',
      acceptsTimestamps: true,
      acceptsWordTimestamps: header(VERSION_HEADER) !== '3',
      language: findFirstOption(options, (option) => option.string('language') ?? option.string('languageCode')),
      prompt: findFirstOption(options, (option) => option.string('prompt')),
      keywords: findFirstOption(options, (option) => option.strings('keywords') ?? option.strings('keyterms')) ?? [],
      granularities,
      temperature: readTemperature(
        findFirstOption(options, (option) => option.number('temperature')),
        warnings,
      ),
      isStream: false,
      isForm: false,
      otherFieldNames: [],
    }
    dropUnread(fields, options, warnings)
    return request
  },
  write(response, context) {
    const { text, usage, language, segments = [], words = [] } = response
    const { file, acceptsWordTimestamps } = context.request
    const seconds = response.duration ?? usage?.units?.second ?? getDuration(file.bytes)
    const hasTimes = segments.length > 0 || words.length > 0
    return {
      text,
      segments: hasTimes ? getSegments(response, seconds).map((segment) => writeTimedText(segment.text, segment)) : [],
      ...(acceptsWordTimestamps && words.length > 0 && { words: words.map((word) => writeTimedText(word.word, word)) }),
      ...(language !== undefined && { language: getLanguageCode(language) }),
      ...(seconds !== undefined && { durationInSeconds: seconds }),
      ...writeResponseFields(context, usage),
    }
  },
}

const VERSION_HEADER = 'ai-transcription-model-specification-version'

const writeTimedText = (text: string, { start, end }: { start: number; end: number }) => ({
  text: text.trim(),
  startSecond: start,
  endSecond: end,
})

/** Returns the file that was read from the body, or the decoded base64. */
function readFile(
  audio: string,
  { mediaType, files: [file], warnings }: { mediaType: string; files: readonly FormFile[]; warnings: Warnings },
): TranscriptionRequest['file'] {
  if (audio === '' && !file) return warnings.reject('file', 'is required: audio in base64.')
  try {
    return normalizeRecording({ bytes: file?.bytes ?? fromBase64(audio), type: mediaType, fileName: '' })
  } catch {
    return warnings.reject('file', 'must be audio in base64.')
  }
}
