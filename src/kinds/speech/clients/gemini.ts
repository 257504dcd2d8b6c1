import { encodeUtf8, toBase64 } from '../../../lib/bytes.ts'
import type { ClientForm } from '../../forms.ts'
import { geminiAnswer, geminiRequest } from '../../gemini.ts'
import { RATE, type SoundPiece, type Speech, type SpeechRequest } from '../speech.ts'

/** Google's form, `generateContent` with `responseModalities: ['AUDIO']`. Its sound is raw samples. */
export const gemini = (isStream: boolean): ClientForm<SpeechRequest, Speech, SoundPiece> => ({
  fieldNames: {
    input: 'contents',
    voice: 'generationConfig.speechConfig',
    language: 'generationConfig.speechConfig.languageCode',
    instructions: 'systemInstruction',
  },
  read(json, { warnings }) {
    const { config, text, system, media, drop } = geminiRequest(json, warnings)
    if (text.trim() === '') return warnings.refuse('input', 'must have the text to be spoken.')
    if (media.length > 0) warnings.noteDropped('input')
    const speech = config.fields('speechConfig')
    const voice = speech?.fields('voiceConfig')?.fields('prebuiltVoiceConfig')?.text('voiceName')
    if (speech?.any('multiSpeakerVoiceConfig') !== undefined)
      warnings.refuse('voice', 'only one prebuilt voice can be passed on.')
    const asked: SpeechRequest = {
      input: text,
      voice,
      format: 'pcm',
      isEvents: isStream,
      ...(!isStream && { isWhole: true }),
      instructions: system,
      speed: undefined,
      language: speech?.text('languageCode'),
      others: [],
    }
    drop(speech)
    return asked
  },
  write: ({ audio, usage }, { model, newId }) =>
    geminiAnswer([inlineData(audio)], { model, id: newId(), usage, isLast: true }),
  stream(_, { model, newId }) {
    if (!isStream) return undefined
    const id = newId()
    const event = (
      ...[media, terms]: [Parameters<typeof geminiAnswer>[0], { usage?: Speech['usage']; isLast: boolean }]
    ) => encodeUtf8(`data: ${JSON.stringify(geminiAnswer(media, { model, id, ...terms }))}\n\n`)
    return {
      isEvents: true,
      type: () => 'text/event-stream',
      piece: (audio) => event([inlineData(audio)], { isLast: false }),
      end: (usage) => event([], { usage, isLast: true }),
      whole: ({ audio }) => [audio],
    }
  },
})

const inlineData = (audio: Uint8Array) => ({ mimeType: `audio/L16;codec=pcm;rate=${RATE}`, data: toBase64(audio) })
