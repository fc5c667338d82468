// Opens the panel from the extension's button: beside the page, or in a tab where that is unknown.

if (chrome.sidePanel) {
  chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
} else {
  chrome.action.onClicked.addListener((tab) => {
    if (chrome.sidebarAction) chrome.sidebarAction.open();
    else chrome.tabs.create({ url: chrome.runtime.getURL(`panel.html?tab=${tab.id}`) });
  });
}
