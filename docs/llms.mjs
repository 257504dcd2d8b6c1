import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BASE, SITE } from './links.mjs'
import { PAGES, readSitePages, SECTIONS } from './pages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The sections of llms.txt, which lists pages for language models (https://llmstxt.org). `toLink` gives the link to a page, from its file name. */
export function listPages(toLink) {
  const pages = readSitePages()
  return Object.entries(SECTIONS).flatMap(([section, label]) => {
    const lines = pages
      .filter((page) => page.section === section)
      .map((page) => `- [${page.title}](${toLink(page.name)}): ${page.description}`)
    return lines.length > 0 ? [`## ${label}\n\n${lines.join('\n')}\n`] : []
  })
}

/** The beginning of llms.txt. */
export const heading = `# Signalbox ${version}\n\n> ${description}\n`

/** An integration that adds llms.txt, llms-full.txt (the text of every page), and the Markdown of each page at its URL with `.md`. */
export const llms = {
  name: 'llms',
  hooks: {
    'astro:build:done'({ dir }) {
      const out = fileURLToPath(dir)
      for (const { name } of readSitePages()) {
        mkdirSync(dirname(join(out, name)), { recursive: true })
        copyFileSync(join(root, PAGES, name), join(out, name))
      }
      const full = `The text of all pages in one file: ${SITE}${BASE}llms-full.txt\n`
      writeFileSync(join(out, 'llms.txt'), [heading, full, ...listPages((name) => SITE + BASE + name)].join('\n'))
      const texts = readSitePages().map(
        ({ title, description, body }) => `# ${title}\n\n${description}\n\n${body.trim()}\n`,
      )
      writeFileSync(join(out, 'llms-full.txt'), [heading, ...texts].join('\n'))
    },
  },
}
