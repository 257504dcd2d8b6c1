import type { NextConfig } from 'next'

const config: NextConfig = {
  skipTrailingSlashRedirect: true, // the dashboard is at /ai/admin/
}

export default config
