/** What stands as JSON alone in the place of an event, if that is what it is. */
export const bareJsonIn = (text: string): string | undefined =>
  text.trimStart().startsWith('{') ? text.split(FIELD, 1)[0] : undefined

const FIELD = /[\r\n](?:data|event|id|retry)?:/
