// What the scripts use and TypeScript does not know: htmx and speech recognition.

declare const htmx: {
  ajax(
    method: string,
    address: string,
    options: {
      source?: Element;
      target?: string | Element;
      select?: string;
      selectOOB?: string;
      swap?: string;
      values?: object;
    },
  ): Promise<void>;
  logger: ((element: Element, name: string, detail: { error?: string }) => void) | null;
  process(element: Element): void;
  swap(target: Element, content: string, options: { swapStyle: string }): void;
  trigger(target: string | Element, event: string): void;
};

interface SpeechRecogniser extends EventTarget {
  continuous: boolean;
  interimResults: boolean;
  lang: string;
  start(): void;
  stop(): void;
}

interface SpeechEvent extends Event {
  resultIndex: number;
  results: Iterable<{ isFinal: boolean; 0: { transcript: string } }>;
}

interface Window {
  SpeechRecognition?: new () => SpeechRecogniser;
  webkitSpeechRecognition?: new () => SpeechRecogniser;
}
