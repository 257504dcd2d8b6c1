import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import { BASE, relativeLinks, SITE } from './links.mjs'

/** The folders of pages, in the order of the sidebar. Their pages are ordered by `sidebar.order` in the frontmatter, then by title. */
const SECTIONS = {
  start: 'Start',
  guides: 'Guides',
  migrate: 'Migrate',
  concepts: 'Concepts',
  reference: 'Reference',
  troubleshooting: 'Troubleshooting',
  project: 'Project',
}

export default defineConfig({
  site: SITE,
  base: BASE,
  trailingSlash: 'always',
  image: { service: passthroughImageService() },
  markdown: { processor: satteri({ hastPlugins: [relativeLinks], features: { smartPunctuation: false } }) },
  integrations: [
    starlight({
      title: 'Signalbox',
      editLink: { baseUrl: 'https://github.com/signalbox-dev/signalbox/edit/main/docs/' },
      social: [{ icon: 'github', label: 'GitHub', href: 'https://github.com/signalbox-dev/signalbox' }],
      sidebar: Object.entries(SECTIONS).map(([directory, label]) => ({
        label,
        collapsed: directory !== 'start' && directory !== 'guides',
        items: [{ autogenerate: { directory } }],
      })),
    }),
  ],
})
