import { SITE } from './pages.ts'

/**
 * Pages other than guides whose shell commands, JSON bodies, and YAML files `commands.test.ts` runs, and the output that their commands must print.
 */
export const COMMAND_PAGES: Record<string, RegExp> = {
  [`${SITE}reference/management-api.md`]: /"requireApiKey":true[\s\S]*"content":"Hello"[\s\S]*\[DONE\]/,
  [`${SITE}reference/combos-and-strategies.md`]: /"use":"first"/,
  [`${SITE}reference/usage-records.md`]: /No usage in this period/,
  [`${SITE}guides/speech.md`]: /^$/, // its command writes a file
  [`${SITE}reference/cli.md`]: /"name": "me"/,
  [`${SITE}reference/http-endpoints.md`]: /"object"/,
  [`${SITE}reference/model-kinds.md`]: /./,
  [`${SITE}reference/providers.md`]: /./,
  [`${SITE}reference/storage-operations.md`]: /./,
}

/** Returns whether a page is a guide. `commands.test.ts` also runs the commands, JSON bodies, and config files of guides. */
export const isGuide = (path: string) => new RegExp(`^${SITE}(?:guides|troubleshooting)/[\\w-]+\\.md$`).test(path)
