// What the browser extension uses of the browsers' API, and TypeScript does not know.

interface ExtensionEvent<Listener> {
  addListener(listener: Listener): void;
}

declare const chrome: {
  action: { onClicked: ExtensionEvent<(tab: { id?: number }) => void> };
  identity: {
    getRedirectURL(): string;
    launchWebAuthFlow(flow: { url: string; interactive: boolean }): Promise<string | undefined>;
  };
  runtime: {
    getManifest(): { homepage_url: string };
    getURL(path: string): string;
    onMessage: ExtensionEvent<
      (message: any, sender: { tab?: { id?: number } }, answer: (value: unknown) => void) => boolean
    >;
    sendMessage(message: object): Promise<unknown>;
  };
  sidebarAction?: { open(): void };
  sidePanel?: { setPanelBehavior(behavior: { openPanelOnActionClick: boolean }): void };
  storage: {
    local: {
      get(name: string): Promise<any>;
      set(values: object): Promise<void>;
      remove(name: string): Promise<void>;
    };
  };
  tabs: {
    create(options: { url: string }): void;
    onActivated: ExtensionEvent<() => void>;
    onUpdated: ExtensionEvent<(id: number, change: { url?: string; status?: string }) => void>;
    query(wanted: { active: boolean; currentWindow: boolean }): Promise<{ id?: number }[]>;
    sendMessage(tab: number, message: object): Promise<unknown>;
  };
};
