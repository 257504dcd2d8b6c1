import { encodeUtf8, toBase64 } from '../../../../lib/bytes.ts'
import { readGeminiRequest, writeGeminiResponse } from '../../gemini-kinds.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import { type AudioChunk, SAMPLE_RATE, type SpeechRequest, type SpeechResponse } from '../speech.ts'

/** Google's `generateContent` with `responseModalities: ['AUDIO']`. The audio consists of raw samples. */
export const createGeminiSpeechClient = (
  isStream: boolean,
): ClientAdapter<SpeechRequest, SpeechResponse, AudioChunk> => ({
  fieldNames: {
    input: 'contents',
    voice: 'generationConfig.speechConfig',
    language: 'generationConfig.speechConfig.languageCode',
    instructions: 'systemInstruction',
  },
  read(json, { warnings }) {
    const { config, text, system, media, dropUnread } = readGeminiRequest(json, warnings)
    if (text.trim() === '') return warnings.reject('input', 'must contain the text to speak.')
    if (media.length > 0) warnings.recordDrop('input')
    const speechConfig = config.fields('speechConfig')
    const voice = speechConfig?.fields('voiceConfig')?.fields('prebuiltVoiceConfig')?.string('voiceName')
    if (speechConfig?.any('multiSpeakerVoiceConfig') !== undefined)
      warnings.reject('voice', 'only one prebuilt voice is supported.')
    const request: SpeechRequest = {
      input: text,
      voice,
      format: 'pcm',
      expectsEvents: isStream,
      ...(!isStream && { expectsCompleteAudio: true }),
      instructions: system,
      speed: undefined,
      language: speechConfig?.string('languageCode'),
      otherFieldNames: [],
    }
    dropUnread(speechConfig)
    return request
  },
  write: ({ audio, usage }, { model, newId }) =>
    writeGeminiResponse([writeInlineData(audio)], { model, id: newId(), usage, isLast: true }),
  createStream(_, { model, newId }) {
    if (!isStream) return undefined
    const id = newId()
    const createEvent = (
      ...[media, context]: [
        Parameters<typeof writeGeminiResponse>[0],
        { usage?: SpeechResponse['usage']; isLast: boolean },
      ]
    ) => encodeUtf8(`data: ${JSON.stringify(writeGeminiResponse(media, { model, id, ...context }))}\n\n`)
    return {
      writesEvents: true,
      getContentType: () => 'text/event-stream',
      writeChunk: (audio) => createEvent([writeInlineData(audio)], { isLast: false }),
      writeEnd: (usage) => createEvent([], { usage, isLast: true }),
      splitResponse: ({ audio }) => [audio],
    }
  },
})

const writeInlineData = (audio: Uint8Array) => ({
  mimeType: `audio/L16;codec=pcm;rate=${SAMPLE_RATE}`,
  data: toBase64(audio),
})
