import { SITE } from './pages.ts'

/** Pages other than the guides whose shell commands, JSON bodies, and YAML files `commands.test.ts` runs, and what their commands must print. */
export const COMMAND_PAGES: Record<string, RegExp> = {
  [`${SITE}reference/management-api.md`]: /"requireApiKey":true[\s\S]*"content":"Hello"[\s\S]*\[DONE\]/,
  [`${SITE}reference/combos-and-strategies.md`]: /"use":"first"/,
  [`${SITE}reference/usage-records.md`]: /No usage in this period/,
  [`${SITE}guides/speech.md`]: /^$/, // it writes a file
  [`${SITE}reference/cli.md`]: /"name": "me"/,
  [`${SITE}reference/http-endpoints.md`]: /"object"/,
  [`${SITE}reference/model-kinds.md`]: /./,
  [`${SITE}reference/providers.md`]: /./,
  [`${SITE}reference/storage-operations.md`]: /./,
}

/** The guides, whose commands, JSON bodies, and config files `commands.test.ts` runs as well. */
export const isGuide = (path: string) => new RegExp(`^${SITE}(?:guides|troubleshooting)/[\\w-]+\\.md$`).test(path)
