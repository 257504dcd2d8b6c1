import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BASE } from './links.mjs'

const FOLDER = 'src/features/dashboard/pictures/'
/** Where pages find the images of the dashboard, because relative links to them don't work in a `<picture>` on the site. */
const REMOTE = `https://raw.githubusercontent.com/signalbox-dev/signalbox/HEAD/${FOLDER}`

/** An integration that serves the images of the dashboard from the site, in the version that the pages describe. */
export const pictures = {
  name: 'pictures',
  hooks: {
    'astro:build:done'({ dir }) {
      const out = fileURLToPath(dir)
      cpSync(new URL(`../${FOLDER}`, import.meta.url), join(out, 'pictures'), {
        recursive: true,
        filter: (path) => !path.endsWith('.json'),
      })
      for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
        if (!name.endsWith('.html')) continue
        const path = join(out, name)
        const page = readFileSync(path, 'utf8')
        if (page.includes(REMOTE)) writeFileSync(path, useLocalPictures(page))
      }
    },
  },
}

/** Replaces GitHub image URLs with the site's. */
export const useLocalPictures = (html) => html.replaceAll(REMOTE, `${BASE}pictures/`)
