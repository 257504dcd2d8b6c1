/* The translators of all formats that clients speak, which are loaded together. */
export { messagesTranslator } from './anthropic-messages/translator.ts'
export { geminiTranslator } from './gemini/translator.ts'
export { chatTranslator } from './openai-chat/translator.ts'
export { responsesTranslator } from './openai-responses/translator.ts'
